// A model whose values are nan.
drive(() => {
    say("upright", [...document.querySelectorAll("#big text")]
        .filter(text => /rotate/.test(text.getAttribute("transform"))).length);
    say("loss", document.querySelector("#state code").textContent);
    say("says", document.querySelectorAll("table.next td")[3].textContent.includes("nan") ? 1 : 0);
});
