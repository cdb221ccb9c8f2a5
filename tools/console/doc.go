// Package console is the pages of quill web: the cell, its jobs and hosts, live and at any moment of its history, for
// people.
//
//	request ── Backend.Session ──▶ who ── Backend.Moment(?at=) ──▶ Moment{state, view} ──▶ page ──▶ frame ── template ──▶ HTML
//	Accept: text/event-stream ──▶ the same page, made anew after each change ──▶ event main ── idiomorph ──▶ the screen
//	POST /act ──▶ GET /act/KEY, which asks ──▶ POST /act/KEY ── Session.Do ──▶ GET /act/KEY: qmaster's answers
//	mirror.Trend, mirror.LoadPoint ──▶ pkg/chart ──▶ SVG
//
// Pages are made on the server and work without a script; the address of a page has all of its state: filters, order,
// and with at= the moment. The script (static/console.js) shows times in the zone of the browser, follows the cell and
// plays its history. It uses the vendored htmx, for forms and for going to a moment without loading the page, and
// idiomorph, which changes what differs and keeps what a person has typed or marked. A page is followed by the
// browser's own EventSource: htmx's extension would hold a connection for each tab in the background, and browsers
// allow six. The policy of the content allows nothing inline; htmx evaluates nothing.
//
// The package knows pages and templates; pkg/chart draws. It must not know how people are authenticated or how state
// and log are read: it has both from a Backend, which tools/web implements. It must not compute what pkg/view computes,
// and must not decide who may do what: qmaster does, and its words are shown.
//
//	console.go   all pages, routes       frame.go  a page, its request and frame, errors; it knows no page
//	list_part.go how much of a list is shown    times.go moments that were typed
//	cell.go      what it needs           live.go   streams        act.go  actions and their confirmation; acts.go keeps them
//	bar.go       shares of a whole       format.go functions of templates   assets.go files, packed and named by content
//	gantt.go     hosts over time         slots.go  slots over time  licenses  those of vendored files
//
// and a file for each page, with its template in templates: overview.go, jobs.go, ...
//
// To add a page: a file with its page{path, name, menu, show, still} and the handler show, which returns the data of
// the template; templates/NAME.html with "main", and "title" if it has one of its own; a line in pages; its path in
// shots of tools/web/browser_test.go, which examines it and makes its pictures. A wrong parameter is a *Problem with a
// Field, returned beside the data: templates show it with "fielderror" at the field. Links within the console are made
// with $.Link, so that they stay at the moment, and those to the same page with $.With. To add an action: a verb in
// act.go and its body in tools/web/person.go.
package console
