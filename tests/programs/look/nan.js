// A model whose values are nan.
drive(() => {
    say("loss", document.querySelector("#state code").textContent);
    say("says", document.querySelectorAll("table.next td")[3].textContent.includes("nan") ? 1 : 0);
});
