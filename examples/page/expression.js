const expression_screen = { start() {}, show() {}, hide() {} };
