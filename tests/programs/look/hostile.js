// Names and numbers that would break a page.
drive(() => {
    lines().forEach((row, i) => lines()[i].click());
    say("images", document.images.length);
    say("scripts", document.scripts.length);
    say("owned", document.title.includes("owned") ? 1 : 0);
    lines()[0].click();
    say("numbers",
        [...document.querySelectorAll("#node td")].slice(0, 4).map(cell => cell.textContent).join("/"));
    const main = document.querySelector("main").textContent;
    say("turned", [/turned/, /[\u061c\u202a-\u202e\u2066-\u2069]/]
        .map(what => what.test(main) ? 1 : 0).join(""));
    say("long", document.querySelector("#node h2").textContent.length > 10000 ? 1 : 0);
});
