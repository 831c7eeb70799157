function work() {}
