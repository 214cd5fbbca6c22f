/// The elements of the page that do not depend on the archive.
enum PageBody {
  static let html = #"""
    <header class="top">
      <h1>Flight record</h1>
      <p id="summary" role="status" aria-live="polite"></p>
      <p id="live" role="status" hidden></p>
      <div class="filters" role="search">
        <label class="search"><span class="hidden">Search</span>
          <input id="search" type="search" placeholder="Search calls, headers, decisions, bodies" autocomplete="off"
            spellcheck="false" aria-keyshortcuts="/"><kbd aria-hidden="true">/</kbd></label>
        <select id="filter-status" aria-label="Status"></select>
        <select id="filter-method" aria-label="Method"></select>
        <select id="filter-host" aria-label="Host"></select>
        <select id="filter-origin" aria-label="Source"></select>
        <label class="check"><input id="filter-failed" type="checkbox">Failed only</label>
        <button id="clear" class="quiet" hidden>Clear filters</button>
      </div>
    </header>
    <main>
      <section class="calls" aria-label="Calls">
        <div class="columns" aria-hidden="true"><span>Call</span><span>Status</span><span>Method</span>
          <span>Request</span><span class="right">Time</span><span>Attempts</span></div>
        <div id="list" role="listbox" tabindex="0" aria-label="Calls">
          <div id="rows" role="presentation"></div><p id="empty" hidden></p></div>
      </section>
      <section id="detail" aria-label="Selected call"></section>
    </main>
    <p id="toast" role="status" aria-live="polite"></p>
    <noscript><p class="hint">This page needs JavaScript. It makes no network requests.</p></noscript>
    """#
}
