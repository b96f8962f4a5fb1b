// SPDX-License-Identifier: GPL-2.0
// The script of a flame graph: in the SVG file, see flamegraph.c.
//
// Click a frame, or press Enter on it: zoom. Escape: back. "/": search.
(function () {
	"use strict";

	var svg = document.documentElement;
	var WIDTH = Number(svg.dataset.width);
	var CHARACTER = Number(svg.dataset.character);
	var details = document.getElementById("details");
	var matched = document.getElementById("matched");
	var reset = document.getElementById("reset");
	var narrow = document.getElementById("narrow");
	var frames = [];

	function read(element) {
		var rect = element.querySelector("rect");
		var title = element.querySelector("title").textContent;

		return {
			element: element,
			rect: rect,
			text: element.querySelector("text"),
			title: title,
			name: title.slice(0, title.lastIndexOf(" (")),
			x: Number(rect.getAttribute("x")),
			y: Number(rect.getAttribute("y")),
			width: Number(rect.getAttribute("width"))
		};
	}

	function inside(frame, outer) {
		// Coordinates have been rounded.
		return frame.x >= outer.x - 0.01 &&
			frame.x + frame.width <= outer.x + outer.width + 0.01;
	}

	function place(frame, x, width) {
		var fits = Math.floor((width - 4) / CHARACTER);

		frame.element.style.display = "";
		frame.rect.setAttribute("x", x.toFixed(2));
		frame.rect.setAttribute("width", width.toFixed(2));
		frame.text.setAttribute("x", (x + 3).toFixed(2));
		frame.text.textContent = fits < 3 ? "" : frame.name.length <= fits ? frame.name :
			frame.name.slice(0, fits - 2) + "..";
	}

	// The frame fills the picture, and so does what it was called from.
	function zoom(outer) {
		frames.forEach(function (frame) {
			var below = outer.y < frame.y && inside(outer, frame);

			frame.element.classList.toggle("below", below);
			if (below)
				place(frame, 0, WIDTH);
			else if (frame.y <= outer.y && inside(frame, outer))
				place(frame, (frame.x - outer.x) * WIDTH / outer.width,
				      frame.width * WIDTH / outer.width);
			else
				frame.element.style.display = "none";
		});
		reset.classList.toggle("hidden", outer === frames[0]);
	}

	// A frame on one that matches is not counted again. Frames that were too narrow to be
	// drawn may match as well.
	function search() {
		var text = prompt("regular expression", "");
		var found, pattern, width = 0;

		if (text === null)
			return;
		try {
			pattern = new RegExp(text, "i");
		} catch (error) {
			matched.textContent = error.message;
			return;
		}
		found = frames.filter(function (frame) {
			var hit = text !== "" && pattern.test(frame.name);

			frame.element.classList.toggle("match", hit);
			return hit;
		});
		found.forEach(function (frame) {
			if (!found.some(function (other) {
				return other.y > frame.y && inside(frame, other);
			}))
				width += frame.width;
		});
		matched.textContent = !text ? "" : "\"" + text + "\": " + found.length +
			" frames, " + (narrow ? "at least " : "") +
			(100 * width / WIDTH).toFixed(2) + " %";
	}

	function frameOf(event) {
		var group = event.target.closest ? event.target.closest("g.frame") : null;

		return group ? frames[Number(group.dataset.number)] : null;
	}

	svg.querySelectorAll("g.frame").forEach(function (element, number) {
		element.dataset.number = number;
		frames.push(read(element));
	});
	svg.addEventListener("click", function (event) {
		if (frameOf(event))
			zoom(frameOf(event));
	});
	["mouseover", "focusin"].forEach(function (type) {
		svg.addEventListener(type, function (event) {
			details.textContent = frameOf(event) ? frameOf(event).title : "";
		});
	});
	svg.addEventListener("keydown", function (event) {
		if (event.key === "/")
			search();
		else if (event.key === "Escape")
			zoom(frames[0]);
		else if (event.key === "Enter" && frameOf(event))
			zoom(frameOf(event));
		else
			return;
		event.preventDefault();
	});
	document.getElementById("search").addEventListener("click", search);
	reset.addEventListener("click", function () { zoom(frames[0]); });
	svg.classList.add("ready");
	// Where stacks begin, and what the mouse is on
	window.scrollTo(0, svg.getBoundingClientRect().height);
}());
