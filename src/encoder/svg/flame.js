// SPDX-License-Identifier: GPL-2.0-or-later
(function () {
"use strict";
const NS = "http://www.w3.org/2000/svg";
const script = document.currentScript;
const page = (script && script.ownerSVGElement) || document.documentElement;
const box = page.querySelector("#frames");
const details = page.querySelector("#details");
const matched = page.querySelector("#matched");
const row = Number(box.dataset.row), rows = Number(box.dataset.rows);
const total = Number(box.dataset.total), inverted = box.dataset.inverted === "1";
const standalone = page === document.documentElement;
const slack = total * 1e-9;
const height = Number(page.getAttribute("height"));

const frames = Array.from(box.children, function (g, id) {
	const rect = g.querySelector("rect"), title = g.querySelector("title").textContent;
	const y = Number(rect.getAttribute("y")), at = Math.round(y / row);
	g.frame = id;
	return {
		id: id, g: g, rect: rect, text: g.querySelector("text"), y: y,
		start: Number(g.dataset.s), n: Number(g.dataset.n), depth: inverted ? at : rows - 1 - at,
		title: title, name: title.slice(0, title.lastIndexOf(" (")),
	};
});
const root = frames[0];
const state = {zoom: root, search: "", ignoreCase: false};
let characterWidth = 7.2;

function element(name, attributes, text) {
	const e = document.createElementNS(NS, name);
	for (const key in attributes)
		e.setAttribute(key, attributes[key]);
	if (text)
		e.textContent = text;
	return e;
}

function button(id, text, attributes, action) {
	const b = element("text", Object.assign({id: id, class: "button", y: 26, tabindex: 0, role: "button"}, attributes),
			  text);
	b.addEventListener("click", action);
	b.addEventListener("keydown", function (e) {
		if (e.key === "Enter" || e.key === " ") {
			e.preventDefault();
			e.stopPropagation();
			action();
		}
	});
	topBar.appendChild(b);
	return b;
}

// Bars that stay in sight when the picture is taller than the window.
function bar(y, height, content) {
	const g = element("g", {class: "bar"});
	g.appendChild(element("rect", {class: "page", y: y, width: "100%", height: height}));
	content.forEach(function (e) { if (e) g.appendChild(e); });
	page.appendChild(g);
	return g;
}

let cut = 0; // of the upper end
function place() {
	const top = Math.max(0, window.scrollY) + cut;
	const below = top + window.innerHeight - height;
	topBar.setAttribute("transform", "translate(0," + top + ")");
	bottomBar.setAttribute("transform", "translate(0," + Math.min(0, below) + ")");
}

function percent(part) {
	return (100 * part).toFixed(2) + "%";
}

function inView(frame) {
	const zoom = state.zoom;
	return frame.start >= zoom.start - slack && frame.start + frame.n <= zoom.start + zoom.n + slack;
}

function label(frame, width) {
	const fit = Math.floor((width - 6) / characterWidth);
	let text = frame.text;
	if (fit < 3) {
		if (text)
			text.textContent = "";
		return;
	}
	if (!text) {
		const y = frame.y + row / 2 + parseFloat(box.getAttribute("font-size")) * 0.32;
		text = frame.text = element("text", {dx: 3, y: y.toFixed(1)});
		frame.g.appendChild(text);
	}
	text.setAttribute("x", frame.rect.getAttribute("x"));
	text.textContent = frame.name.length <= fit ? frame.name : frame.name.slice(0, fit - 1) + "\u2026";
}

function layout() {
	const width = box.getBoundingClientRect().width || Number(box.getAttribute("width")) || 1180;
	const zoom = state.zoom;
	for (const frame of frames) {
		const above = frame.depth < zoom.depth;
		const shown = above ? frame.start <= zoom.start + slack &&
				      frame.start + frame.n >= zoom.start + zoom.n - slack : inView(frame);
		if (!shown) {
			frame.g.style.display = "none";
			continue;
		}
		const share = above ? 1 : frame.n / zoom.n;
		const x = above ? 0 : (frame.start - zoom.start) / zoom.n;
		frame.g.style.display = "";
		frame.g.classList.toggle("above", above);
		frame.rect.setAttribute("x", (100 * x).toFixed(4) + "%");
		frame.rect.setAttribute("width", (100 * share).toFixed(4) + "%");
		label(frame, share * width);
	}
	reset.style.display = zoom === root ? "none" : "";
}

function expression(text) {
	const flags = state.ignoreCase ? "i" : "";
	try {
		return new RegExp(text, flags);
	} catch (error) { // then as it stands
		return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), flags);
	}
}

// Frames are in drawing order, so a match inside a match follows it and adds nothing.
function highlight() {
	const wanted = state.search ? expression(state.search) : null;
	let sum = 0, zoomed = 0, end = -1, endDepth = 0;
	for (const frame of frames) {
		const hit = wanted !== null && frame !== root && wanted.test(frame.name);
		frame.g.classList.toggle("hit", hit);
		if (!hit)
			continue;
		if (end >= 0 && frame.depth > endDepth && frame.start + frame.n <= end + slack)
			continue;
		end = frame.start + frame.n;
		endDepth = frame.depth;
		sum += frame.n;
		const from = Math.max(frame.start, state.zoom.start);
		const to = Math.min(end, state.zoom.start + state.zoom.n);
		zoomed += Math.max(0, to - from);
	}
	let text = "";
	if (wanted) {
		text = "Matched: " + percent(sum / total);
		if (state.zoom !== root)
			text += " (" + percent(zoomed / state.zoom.n) + " of this view)";
	}
	matched.textContent = text;
	clear.style.display = wanted ? "" : "none";
	ignoreCase.classList.toggle("on", state.ignoreCase);
}

function remember(push) {
	const parts = [];
	if (state.zoom !== root)
		parts.push("zoom=" + state.zoom.id);
	if (state.search)
		parts.push("search=" + encodeURIComponent(state.search));
	if (state.ignoreCase)
		parts.push("ignorecase=1");
	const fragment = "#" + parts.join("&");
	if (!standalone || fragment === (location.hash || "#"))
		return;
	try {
		history[push ? "pushState" : "replaceState"](null, "", fragment);
	} catch (error) {
		location.replace(fragment);
	}
}

function restore() {
	state.zoom = root;
	state.search = "";
	state.ignoreCase = false;
	for (const part of location.hash.slice(1).split("&")) {
		const at = part.indexOf("="), key = part.slice(0, at), value = part.slice(at + 1);
		if (key === "zoom")
			state.zoom = frames[Number(value)] || root;
		else if (key === "search") {
			try {
				state.search = decodeURIComponent(value);
			} catch (error) {
				state.search = value;
			}
		} else if (key === "ignorecase")
			state.ignoreCase = value === "1";
	}
	layout();
	highlight();
}

function zoomTo(frame) {
	state.zoom = frame;
	layout();
	highlight();
	remember(true);
}

function searchFor(text) {
	state.search = text;
	highlight();
	remember(false);
}

let form = null;
function closeSearch() {
	if (form) {
		form.remove();
		form = null;
	}
}

function askSearch() {
	if (form) {
		form.firstChild.focus();
		return;
	}
	form = element("foreignObject", {y: 6, width: 260, height: 32});
	form.setAttribute("x", Math.max(0, page.getBoundingClientRect().width - 380));
	const input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
	input.setAttribute("type", "text");
	input.setAttribute("placeholder", "regular expression");
	input.setAttribute("style", "width:250px;box-sizing:border-box;padding:3px 6px;font:13px monospace;" +
			   "border:1px solid #888;border-radius:4px;background:Canvas;color:CanvasText");
	input.value = state.search;
	input.addEventListener("input", function () { searchFor(input.value); });
	input.addEventListener("keydown", function (e) {
		e.stopPropagation();
		if (e.key === "Enter") {
			closeSearch();
		} else if (e.key === "Escape") {
			closeSearch();
			searchFor("");
		}
	});
	form.appendChild(input);
	topBar.appendChild(form);
	input.focus();
	input.select();
}

function toggleCase() {
	state.ignoreCase = !state.ignoreCase;
	highlight();
	remember(false);
}

const subtitle = page.querySelector("#subtitle");
const topBar = bar(0, subtitle ? 50 : 34, [page.querySelector(":scope > .big"), subtitle]);
const bottomBar = bar(height - 30, 30, [details, matched, page.querySelector("#legend")]);
const reset = button("reset", "Reset zoom", {x: 10}, function () { zoomTo(root); });
const search = button("search", "Search", {x: "100%", dx: -34, "text-anchor": "end"}, askSearch);
const ignoreCase = button("ignorecase", "ic", {x: "100%", dx: -10, "text-anchor": "end"}, toggleCase);
const clear = button("clear", "Clear", {x: "100%", dx: -88, "text-anchor": "end"}, function () {
	closeSearch();
	searchFor("");
});
search.appendChild(element("title", {}, "Ctrl-F: highlight the frames that match a regular expression"));
ignoreCase.appendChild(element("title", {}, "Ctrl-I: ignore case when searching"));

function frameOf(event) {
	const g = event.target.closest && event.target.closest("#frames g");
	return g ? frames[g.frame] : null;
}

box.addEventListener("click", function (e) {
	const frame = frameOf(e);
	if (frame)
		zoomTo(frame);
});
box.addEventListener("mouseover", function (e) {
	const frame = frameOf(e);
	details.textContent = frame ? box.dataset.type + " " + frame.title : "";
});
box.addEventListener("mouseleave", function () { details.textContent = ""; });
window.addEventListener("keydown", function (e) {
	if (e.key === "F3" || ((e.ctrlKey || e.metaKey) && e.key === "f")) {
		e.preventDefault();
		askSearch();
	} else if ((e.ctrlKey || e.metaKey) && e.key === "i") {
		e.preventDefault();
		toggleCase();
	} else if (e.key === "Escape") {
		if (form)
			closeSearch();
		else if (state.search)
			searchFor("");
		else
			zoomTo(root);
	}
});

// As wide as the window from now on; without scripts the picture keeps the size it was drawn with.
if (standalone) {
	page.removeAttribute("viewBox");
	page.setAttribute("width", "100%");
	const probe = element("text", {}, "0123456789");
	box.appendChild(probe);
	characterWidth = probe.getComputedTextLength() / 10 || characterWidth;
	probe.remove();
	box.setAttribute("width", Math.max(80, page.getBoundingClientRect().width - 20));
	box.style.width = "calc(100% - 20px)";
	window.addEventListener("resize", layout);
	window.addEventListener("load", layout); // scroll bars have come
	window.addEventListener("resize", place);
	window.addEventListener("scroll", place);
	// The stacks stand on the lower edge. Where there is no window around the page, a picture of it is taken from its
	// upper end, wherever it was scrolled to: then the rest is left out.
	if (!inverted && !window.outerHeight && window === window.top && height > window.innerHeight) {
		cut = height - window.innerHeight;
		page.setAttribute("height", window.innerHeight);
		page.setAttribute("viewBox", [0, cut, window.innerWidth, window.innerHeight].join(" "));
	} else if (!inverted) {
		window.scrollTo(0, height);
	}
	place();
	window.addEventListener("popstate", restore);
	window.addEventListener("hashchange", restore);
}
restore();
})();
