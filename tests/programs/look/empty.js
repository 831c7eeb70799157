// A tape without nodes.
drive(() => {
    press("Home");
    press("ArrowDown", 2);
    press("ArrowUp", 2);
    press("End");
    press("Enter");
});
