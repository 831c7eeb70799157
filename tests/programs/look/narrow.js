// A narrow window.
drive(() => {
    const right = document.getElementById("right").getBoundingClientRect();
    say("wide", innerWidth);
    say("beside", document.documentElement.scrollWidth - document.documentElement.clientWidth);
    say("beneath", right.top > document.getElementById("tape").getBoundingClientRect().bottom - 2 &&
        right.height > 200 ? 1 : 0);
    const curve = document.getElementById("curve");
    say("curve", !curve || curve.getBoundingClientRect().right <= innerWidth ? 1 : 0);
});
