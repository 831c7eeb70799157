const broken_screen = { start() {}, show() {}, hide() {} };
