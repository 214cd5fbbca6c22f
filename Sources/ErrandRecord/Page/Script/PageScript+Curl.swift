extension PageScript {
  /// Copies a call as a curl command for bash.
  static let curl = #"""
    // Fields that curl or the connection sets, and pseudo fields of HTTP/2.
    const FRAMING = /^(:.*|content-length|transfer-encoding|connection|keep-alive|host)$/i;

    const sentFields = entry => entry.requestHeaders.filter(field => !FRAMING.test(field.name));

    const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

    // Whether curl can send the request and cannot mistake its URL for an option. An archive comes from anywhere.
    const hasCurl = entry => /^https?:\/\//i.test(entry.url) && TOKEN.test(entry.method)
      && sentFields(entry).every(field => TOKEN.test(field.name));

    function curlOf(call) {
      const entry = call.entries[call.entries.length - 1], body = entry.requestBody;
      if (!hasCurl(entry)) {
        return '# No curl command: the URL is no http or https URL, or the method or a header field has no valid name.';
      }
      const words = ['curl', ...curlMethod(entry.method, body)];
      if (/[\[\]{}]/.test(entry.url)) words.push('--globoff');
      if (/\/\./.test(entry.url)) words.push('--path-as-is');
      const lines = [[...words, shellWord(entry.url)].join(' ')];
      for (const field of sentFields(entry)) {
        lines.push(`-H ${shellWord(field.value === '' ? `${field.name};` : `${field.name}: ${field.value}`)}`);
      }
      if (entry.requestHeaders.some(field => /^accept-encoding$/i.test(field.name))) lines.push('--compressed');
      if (body) lines.push(`--data-raw ${shellWord(body.text)}`);
      return lines.join(' \\\n  ');
    }

    function curlMethod(method, body) {
      if (method === 'HEAD' && !body) return ['--head'];
      return method === 'GET' && !body ? [] : ['-X', shellWord(method)];
    }

    // Quotes a text as one word. Control characters and characters that are invisible become octal escapes. An argument
    // of a program cannot contain a zero byte.
    function shellWord(word) {
      const text = word.replaceAll('\0', '\uFFFD');
      if (/^[A-Za-z0-9._\/:@%+=,-]+$/.test(text) && !text.startsWith('-')) return text;
      HIDDEN.lastIndex = 0;
      if (!HIDDEN.test(text) && !/[\t\n\r]/.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
      return `$'${[...text].map(shellCharacter).join('')}'`;
    }

    function shellCharacter(character) {
      if (character === '\\' || character === "'") return `\\${character}`;
      HIDDEN.lastIndex = 0;
      if (!HIDDEN.test(character) && !/[\t\n\r]/.test(character)) return character;
      const named = { '\t': '\\t', '\n': '\\n', '\r': '\\r' }[character];
      if (named) return named;
      return [...new TextEncoder().encode(character)].map(byte => `\\${byte.toString(8).padStart(3, '0')}`).join('');
    }

    """#
}
