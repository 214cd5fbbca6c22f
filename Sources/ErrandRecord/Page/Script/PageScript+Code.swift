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
      if (body && !entry.requestHeaders.some(field => /^content-type$/i.test(field.name))) {
        lines.push('-H Content-Type:');
      }
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

  /// Copies a call as a Swift request and as a Swift test.
  static let swift = #"""
    // A string literal of one line. No character of the text can end it or start an interpolation.
    function swiftText(text) {
      const named = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
      return `"${[...text].map(character => named[character] || swiftCharacter(character)).join('')}"`;
    }

    function swiftCharacter(character) {
      const code = character.codePointAt(0);
      if (code >= 0xD800 && code <= 0xDFFF) return '\\u{FFFD}';
      HIDDEN.lastIndex = 0;
      return HIDDEN.test(character) ? `\\u{${code.toString(16).toUpperCase()}}` : character;
    }

    // The name of the request's type, or one made from the method and the path.
    function typeName(call) {
      const own = /^[A-Z][A-Za-z0-9_]*$/.test(call.type) ? call.type : '';
      const words = `${call.method.toLowerCase()} ${call.path.split('?')[0]}`.match(/[A-Za-z][A-Za-z0-9]*/g) || [];
      const made = words.slice(0, 5).map(word => word[0].toUpperCase() + word.slice(1)).join('').slice(0, 60);
      const name = own || made || 'Get';
      return /^(Any|Self|Type|Protocol|Data|String|Int|Path|Get|Post|Put|Delete|Head|JSONValue)$/.test(name)
        ? `${name}Request` : name;
    }

    const originURL = call => (/^[a-z][a-z0-9+.-]*:\/\/[^\/?#]*/i.exec(call.url) || ['https://api.example.com'])[0];

    const METHODS = { __proto__: null, POST: '.post', PUT: '.put', PATCH: '.patch', DELETE: '.delete', HEAD: '.head' };

    function requestCode(call) {
      return `import Errand\n\n${requestType(call)}\n\nlet client = APIClient(baseURL: ${swiftText(originURL(call))})\n`
        + `let value = try await client.send(${typeName(call)}())\n`;
    }

    // The struct of the request. The first entry is the request as the app sent it.
    function requestType(call) {
      const entry = call.entries[0], body = entry.requestBody;
      const lines = [`  var path: Path { ${swiftText(readURL(entry.url).path)} }`];
      if (entry.method && entry.method !== 'GET') {
        lines.push(`  var method: HTTPMethod { ${METHODS[entry.method] || swiftText(entry.method)} }`);
      }
      const fields = ownFields(entry, body);
      if (fields.length) lines.push(`  var headers: RequestHeaders {\n${fieldLiteral(fields, '    ')}\n  }`);
      if (body) lines.push(`  var body: RequestBody? { ${bodyCode(body)} }`);
      lines.push(`  typealias Response = ${responseType(call)}`);
      return `struct ${typeName(call)}: APIRequest {\n${lines.join('\n')}\n}`;
    }

    // Fields that the client sets itself are left out, and of repeated fields all but the first.
    function ownFields(entry, body) {
      const names = new Set(['user-agent', 'accept-encoding', 'accept', 'cookie', 'priority']);
      if (body) names.add('content-type');
      return sentFields(entry).filter(field => {
        const name = field.name.toLowerCase(), isNew = !names.has(name);
        names.add(name);
        return isNew && !name.startsWith('sec-') && isFieldName(field.name);
      });
    }

    const isFieldName = name => /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name);

    const fieldLiteral = (fields, indent) => fields.length === 1
      ? `${indent}[${swiftText(fields[0].name)}: ${swiftText(fields[0].value)}]`
      : `${indent}[\n${fields.map(field => `${indent}  ${swiftText(field.name)}: ${swiftText(field.value)},\n`).join('')}`
        + `${indent}]`;

    const bodyCode = body => `.text(${swiftText(body.text)}, type: ${swiftText(body.type || 'text/plain')})`;

    function responseType(call) {
      const body = call.entries[call.entries.length - 1].responseBody;
      if (call.method === 'HEAD') return 'Nothing';
      return body && /json/i.test(body.type) ? 'JSONValue' : 'String';
    }

    function testCode(call) {
      const name = typeName(call), sent = call.entries.filter(entry => entry.errand.attempt !== 0);
      const answers = (sent.length ? sent : call.entries).map(answerCode);
      const retries = sent.length > 1
        ? '  configuration.retries = RetryPolicy(firstDelay: .zero, busyDelay: .zero)\n' : '';
      return `import Errand\nimport ErrandTesting\nimport Testing\n\n${requestType(call)}\n\n`
        + `@Test func \`${name} ${call.failed ? 'fails' : 'succeeds'}\`() async throws {\n`
        + `  let transport = ScriptedTransport(\n${answers.map(answer => `    ${answer}`).join(',\n')})\n`
        + `  var configuration = ClientConfiguration(baseURL: ${swiftText(originURL(call))})\n`
        + `  configuration.transport = .own(transport)\n${retries}`
        + `  let outcome = await APIClient(configuration).outcome(of: ${name}())\n\n`
        + `  #expect(${expectation(call)})\n  #expect(transport.requests.count == ${answers.length})\n}\n`;
    }

    function expectation(call) {
      if (!call.failed) return 'outcome.error == nil';
      return call.status >= 100 ? `outcome.error?.status == ${call.status}` : 'outcome.error != nil';
    }

    // The response of an attempt as an answer of the scripted transport.
    function answerCode(entry) {
      if (entry.status < 100 || entry.status > 999) {
        return `.failure(.other, ${swiftText(entry.error || 'no response')})`;
      }
      const fields = entry.responseHeaders.filter(field => isFieldName(field.name)
        && !/^(content-length|transfer-encoding|content-encoding|connection|keep-alive)$/i.test(field.name));
      const extra = fields.length ? `,\n      fields:\n${fieldLiteral(fields, '        ')}` : '';
      const body = entry.responseBody;
      if (!body || body.text === '' || body.isBase64) return `.status(${entry.status}${extra})`;
      const kind = /json/i.test(body.type) ? 'json' : 'text';
      return `.${kind}(\n      ${swiftText(body.text)},\n      status: ${entry.status}${extra})`;
    }

    """#
}
