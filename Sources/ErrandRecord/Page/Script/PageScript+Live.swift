extension PageScript {
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
