const guide_screen = { start() {}, show() {}, hide() {} };
