const training_screen = { start() {}, show() {}, hide() {} };
