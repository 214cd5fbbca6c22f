extension PageScript {
  /// Reads the entries of an archive as calls. An archive comes from anywhere, so each member may be absent or have
  /// another type.
  static let model = #"""
    'use strict';

    // Objects and lists are no texts. Converting them can fail: {"toString": 1}.
    const asText = value =>
      typeof value === 'string' ? value : ['number', 'boolean'].includes(typeof value) ? String(value) : '';
    const asNumber = (value, other = 0) => typeof value === 'number' && isFinite(value) ? value : other;
    const asList = value => Array.isArray(value) ? value : [];
    const asObject = value => value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};

    const PHASES = ['blocked', 'dns', 'connect', 'ssl', 'send', 'wait', 'receive'];
    const PHASE_NAMES = {
      blocked: 'Queue', dns: 'Name lookup', connect: 'Connect', ssl: 'TLS', send: 'Send', wait: 'Wait',
      receive: 'Receive',
    };

    // Groups entries by the run of the process and the number of their call. Entries without a number are a call each.
    function readCalls(entries) {
      const groups = new Map();
      asList(entries).forEach((entry, index) => {
        const { call, run } = asObject(asObject(entry)._errand);
        const key = Number.isInteger(call) ? `call ${asText(run)}/${call}` : `entry ${index}`;
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push(readEntry(asObject(entry)));
      });
      return [...groups].map(([key, group], index) => makeCall(key, group, index));
    }

    function readEntry(entry) {
      const request = asObject(entry.request), response = asObject(entry.response);
      const started = Date.parse(asText(entry.startedDateTime));
      return {
        errand: asObject(entry._errand), started: isFinite(started) ? started : 0,
        time: Math.max(asNumber(entry.time), 0), phases: readPhases(asObject(entry.timings)),
        method: asText(request.method), url: asText(request.url), version: asText(response.httpVersion),
        status: asNumber(response.status), reason: asText(response.statusText),
        error: asText(response._error || entry._error), address: asText(entry.serverIPAddress),
        requestHeaders: readFields(request.headers), responseHeaders: readFields(response.headers),
        requestBody: readRequestBody(asObject(request.postData)),
        responseBody: readResponseBody(asObject(response.content)),
        isCached: entry._fromCache != null || response._fromCache != null || response.status === 304,
      };
    }

    // The phases with their starts and durations in milliseconds. `ssl` is a part of `connect`.
    function readPhases(timings) {
      const phases = [];
      let start = 0;
      for (const name of PHASES) {
        let time = asNumber(timings[name], -1);
        if (name === 'connect') time -= Math.max(asNumber(timings.ssl, 0), 0);
        if (!(time > 0)) continue;
        phases.push({ name, start, time });
        start += time;
      }
      return phases;
    }

    const readFields = fields => asList(fields).map(asObject)
      .map(field => ({ name: asText(field.name), value: asText(field.value) }));

    function readRequestBody(data) {
      if (typeof data.text === 'string') return { text: data.text, type: asText(data.mimeType) };
      const pairs = readFields(data.params).map(pair => `${pair.name}=${pair.value}`);
      return pairs.length ? { text: pairs.join('&'), type: asText(data.mimeType) } : null;
    }

    function readResponseBody(content) {
      if (typeof content.text !== 'string') return null;
      const isCoded = asText(content.encoding).toLowerCase() === 'base64';
      return { text: content.text, type: asText(content.mimeType), isBase64: isCoded };
    }

    function makeCall(key, entries, index) {
      const last = entries[entries.length - 1], errand = last.errand, place = readURL(last.url);
      // A function cannot have as many arguments as an archive can have entries.
      const first = entries.reduce((least, entry) => Math.min(least, entry.started), Infinity);
      const end = entries.reduce((most, entry) => Math.max(most, entry.started + entry.time), -Infinity);
      const started = Date.parse(asText(errand.startedAt)), failure = asObject(asObject(errand.outcome).failure);
      return {
        key, index, entries, number: Number.isInteger(errand.call) ? errand.call : index + 1,
        type: asText(errand.requestType), tag: asText(errand.tag), method: last.method, url: last.url, ...place,
        status: last.status, reason: last.reason, started: isFinite(started) ? started : first,
        duration: asNumber(errand.duration, end - first), failed: hasFailed(last, errand),
        error: asText(failure.message) || last.error, code: errorCode(failure),
        origin: originOf(last, errand), decisions: asList(errand.decisions).map(asText),
        offsets: asList(errand.offsets).map(offset => asNumber(offset)), haystack: null,
      };
    }

    const errorCode = failure => [failure.stage, failure.code].filter(Boolean).map(asText).join('/');

    function readURL(text) {
      const parts = /^[a-z][a-z0-9+.-]*:\/\/([^\/?#]*)([^#]*)/i.exec(text);
      return parts ? { host: parts[1], path: parts[2] || '/' } : { host: '', path: text };
    }

    // A call of Errand states its outcome. Of another entry, the status and the error decide.
    function hasFailed(entry, errand) {
      if (errand.outcome) return Boolean(asObject(errand.outcome).failure);
      return entry.error !== '' || entry.status === 0 || entry.status >= 400;
    }

    function originOf(entry, errand) {
      const origin = asText(asObject(errand.outcome).origin);
      if (origin.startsWith('cache') || origin === 'revalidated') return 'cache';
      if (origin === 'local') return 'local';
      return origin === '' && entry.isCached ? 'cache' : 'network';
    }

    // The text that the search looks through, in lower case. It is made when the call is searched first.
    function haystack(call) {
      if (call.haystack !== null) return call.haystack;
      const parts = [`#${call.number}`, call.type, call.tag, call.error, call.code, ...call.decisions];
      for (const entry of call.entries) {
        parts.push(entry.method, entry.url, String(entry.status), entry.error);
        for (const field of [...entry.requestHeaders, ...entry.responseHeaders]) parts.push(field.name, field.value);
        for (const body of [entry.requestBody, entry.responseBody]) if (body) parts.push(body.text.slice(0, 100000));
      }
      call.haystack = parts.join('\n').toLowerCase();
      return call.haystack;
    }

    function timeText(milliseconds) {
      const size = Math.abs(milliseconds);
      if (size < 1) return `${Math.round(milliseconds * 1000)} µs`;
      if (size < 10) return `${milliseconds.toFixed(1)} ms`;
      if (size < 1000) return `${Math.round(milliseconds)} ms`;
      if (size < 60000) return `${(milliseconds / 1000).toFixed(size < 10000 ? 2 : 1)} s`;
      const seconds = Math.round(size / 1000);
      return `${milliseconds < 0 ? '-' : ''}${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    }

    """#
}
