// SPDX-License-Identifier: GPL-2.0-or-later
(function () {
"use strict";
const script = document.currentScript;
const page = (script && script.ownerSVGElement) || document.documentElement;
const cells = page.querySelector("#cells"), details = page.querySelector("#details");
const summary = details.textContent;
cells.addEventListener("mouseover", function (e) {
	const title = e.target.querySelector && e.target.querySelector("title");
	if (title)
		details.textContent = title.textContent;
});
cells.addEventListener("mouseleave", function () { details.textContent = summary; });
})();
