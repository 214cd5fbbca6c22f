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

  /// Adds the calls that the server of a live page sends.
  static let live = #"""
    const MOST_CALLS = 20000;

    function startLive() {
      const source = new EventSource('events');
      byID('live').hidden = false;
      source.onopen = () => showLive('Live', 'on');
      source.onerror = () => showLive('Not connected', 'off');
      source.onmessage = event => addLive(JSON.parse(event.data));
      source.addEventListener('overflow', () => {
        source.close();
        showLive('Calls were missed. Reload the page.', 'off');
      });
      source.addEventListener('end', () => {
        source.close();
        showLive('The page has been stopped.', 'off');
      });
    }

    function showLive(text, kind) {
      byID('live').textContent = text;
      byID('live').dataset.kind = kind;
    }

    // The server sends the whole record again after a new connection, so known calls are left out.
    function addLive(entries) {
      const news = readCalls(entries).filter(call => !state.keys.has(call.key));
      for (const call of news) state.keys.add(call.key);
      state.calls.push(...news);
      if (state.calls.length > MOST_CALLS) state.calls.splice(0, state.calls.length - MOST_CALLS);
      if (!state.isDrawing && news.length) {
        state.isDrawing = true;
        requestAnimationFrame(drawLive);
      }
    }

    // Many calls that arrive together are drawn once. A list that is scrolled to its end stays there.
    function drawLive() {
      const list = byID('list');
      const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - ROW;
      state.isDrawing = false;
      fillFilters();
      applyFilter();
      if (atEnd) list.scrollTop = list.scrollHeight;
    }

    """#
}
