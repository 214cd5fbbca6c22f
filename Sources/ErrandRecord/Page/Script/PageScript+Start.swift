extension PageScript {
  /// The state of the page, and its start.
  static let start = #"""
    const state = {
      calls: [], shown: [], keys: new Set(), filter: noFilter(), selected: null, base: null, tab: 'overview',
      code: 'curl', onlyDifferences: false, scale: 1, firstRow: 0, lastRow: 0, isDrawing: false,
    };

    function readArchive() {
      const text = byID('archive').textContent;
      return text.trim() === '' ? [] : asObject(asObject(JSON.parse(text)).log).entries;
    }

    function start() {
      state.calls = readCalls(readArchive());
      fillFilters();
      byID('search').addEventListener('input', readFilter);
      for (const id of ['filter-status', 'filter-method', 'filter-host', 'filter-origin', 'filter-failed']) {
        byID(id).addEventListener('change', readFilter);
      }
      byID('clear').addEventListener('click', clearFilter);
      byID('list').addEventListener('scroll', () => drawList(false), { passive: true });
      byID('list').addEventListener('keydown', listKey);
      new ResizeObserver(() => drawList(false)).observe(byID('list'));
      document.addEventListener('keydown', pageKey);
      applyFilter();
      drawDetail();
      if (document.documentElement.dataset.mode === 'live') startLive();
    }

    function pageKey(event) {
      const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || '');
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '/' && !isTyping) {
        byID('search').focus();
        event.preventDefault();
      } else if (event.key === 'Escape') {
        if (isTyping) byID('list').focus();
        else closeDetail();
      } else if (event.key === 'c' && !isTyping && state.selected) {
        toggleBase(state.selected);
      }
    }

    start();
    """#
}
