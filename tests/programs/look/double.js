// Doubles: all digits, the largest and smallest numbers, and the values under the pointer.
drive(() => {
    say("loss", lines().find(row => label(row).includes("loss")).querySelector(".value").title);
    say("fits", lines().filter(row => [...row.children].some(cell => cell.scrollWidth > cell.clientWidth))
        .length);
    chain();
    say("largest", cell("far 0", ".value"));
    say("among", cell("far 2", ".value"));
    lines().find(row => label(row).includes("x input")).click();
    const [values, gradients] = document.querySelectorAll("#node canvas");
    for (const [what, canvas] of [["value", values], ["gradient", gradients]]) {
        const at = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new MouseEvent("mousemove", { clientX: at.right - 2, clientY: at.bottom - 20 }));
        say(what, canvas.parentNode.querySelector(".under").textContent.replace(/ /g, ""));
    }
});
