import Errand
import ErrandJSON
import ErrandSupport
import Foundation

/// Parses the arguments that all sending commands have: URL, fields, credentials, time-out.
///
/// Separators are searched among Unicode scalars. In a Swift string, a separator that is followed by a combining accent
/// is a different `Character`, so a search by characters would not find it.
enum RequestNotation {
  /// Returns the URL with a scheme. If the text has no scheme, the scheme is http for this machine and https for other
  /// hosts.
  static func url(_ text: String) throws(UsageError) -> String {
    let rest = behindScheme(of: text)
    let authority = (rest ?? text.unicodeScalars[...]).prefix { !"/?#".unicodeScalars.contains($0) }
    guard !authority.contains("@") else {  // compares scalars
      throw UsageError("remove name and password from the URL, and give them with --user name:password")
    }
    if rest != nil { return text }
    if authority.first == ":" { return "http://localhost\(text)" }
    let host = authority.first == "[" ? authority.prefix { $0 != "]" } : authority.prefix { $0 != ":" }
    return (isThisMachine(String(host).lowercased()) ? "http://" : "https://") + text
  }

  /// The part of a URL after its scheme and `://`; nil if the text has no scheme (RFC 3986 section 3.1).
  private static func behindScheme(of text: String) -> Substring.UnicodeScalarView? {
    guard let (scheme, rest) = text.cut(at: ":"), HTTPURL.isScheme(scheme.utf8), rest.utf8.starts(with: "//".utf8)
    else { return nil }
    return rest.unicodeScalars.dropFirst(2)
  }

  /// Whether a host is this machine: a loopback address, or `localhost`, which always means this machine.
  private static func isThisMachine(_ host: String) -> Bool {
    if host == "localhost" || host == "[::1" { return true }
    let parts = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return host.utf8.starts(with: "127.".utf8) && parts.count == 4 && parts.allSatisfy { UInt8(Substring($0)) != nil }
  }

  /// Parses the value of one `-H` option.
  static func field(_ text: String) throws(UsageError) -> SendOptions.Field {
    guard let (name, behind) = text.cut(at: ":"), !name.isEmpty else {
      throw UsageError("-H needs the form 'Name: value'; 'Name:' leaves the field out")
    }
    let value = behind.trimmingCharacters(in: .whitespaces)
    return .init(name: String(name), value: value.isEmpty ? nil : value)
  }

  /// Parses the value of `--timeout`: a number of seconds.
  static func timeout(_ text: String) throws(UsageError) -> Duration {
    guard let seconds = Double(text), seconds > 0, seconds <= 1_000_000_000 else {
      throw UsageError("--timeout needs a number of seconds above 0, such as 2.5, not “\(text)”")
    }
    return .seconds(seconds)
  }

  /// Parses a number with a unit, such as 1.5M, from digits and a point; nil for other texts. A number without a unit
  /// is unchanged.
  static func number(_ text: String, units: [Character: Double]) -> Double? {
    let unit = text.last.flatMap { units[$0] }
    let digits = unit == nil ? text[...] : text.dropLast()
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) else { return nil }
    return Double(digits).map { $0 * (unit ?? 1) }
  }

  /// Parses the value of `--bearer`: a token, or `@` and the path of a file with the token.
  static func bearer(_ value: String) throws(UsageError) -> RequestCredential {
    .bearer(try secret(value, of: "--bearer"))
  }

  /// The secret of an option. If the value begins with `@`, the secret is the first line of a file. A file is safer,
  /// because every user of the machine can see the arguments of a process.
  private static func secret(_ value: String, of option: String) throws(UsageError) -> String {
    guard value.utf8.first == UInt8(ascii: "@") else { return value }
    let path = String(value.dropFirst())
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw UsageError("\(option) cannot read “\(path)”; give the path of a file whose first line is the secret")
    }
    let bytes = (try? file.read(upToCount: 64 << 10)) ?? Data()
    let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
    guard !line.isEmpty, let secret = String(validating: line, as: UTF8.self) else {
      throw UsageError(
        "the first line of “\(path)” is empty or is not UTF-8; \(option) reads the secret from that line")
    }
    return secret
  }

  /// Parses the value of `--user`: name and password, or `@` and the path of a file with both.
  static func basic(_ value: String) throws(UsageError) -> RequestCredential {
    let text = try secret(value, of: "--user")
    guard let (user, password) = text.cut(at: ":") else { throw UsageError("--user needs the form name:password") }
    return .basic(user: String(user), password: String(password))
  }

  /// Parses one argument of the form `name=value` or `name:=json`.
  static func item(_ text: String) throws(UsageError) -> SendOptions.Item {
    guard let (name, value) = text.cut(at: "="), !name.isEmpty, !text.utf8.starts(with: ":=".utf8) else {
      throw UsageError("“\(text)” is not an argument; write name=value, or name:=json for JSON")
    }
    guard name.utf8.last == 0x3A else { return .init(name: String(name), value: .string(String(value))) }
    let own = String(name.unicodeScalars.dropLast())
    do {
      return .init(name: own, value: try JSONValue(parsing: Data(value.utf8)))
    } catch {
      throw UsageError("the value of “\(name)=” must be JSON, but \(error.clause); for a text write \(own)=…")
    }
  }
}

extension RequestCredential {
  /// Sets the credential of an option. A command accepts only one such option.
  mutating func take(_ credential: RequestCredential) throws(UsageError) {
    guard self == .none else { throw UsageError("use only one credential: --user or --bearer") }
    self = credential
  }
}

extension RequestHeaders {
  /// Creates headers with the fields of the command line.
  init(merging fields: [SendOptions.Field]) {
    self.init()
    merge(fields)
  }

  /// Adds the fields of the command line. The first field with a name replaces the existing field; further fields with
  /// this name are added. Fields with secret names are marked as secret.
  mutating func merge(_ fields: [SendOptions.Field]) {
    var names: Set<HTTPFieldName> = []
    for field in fields {
      let name = HTTPFieldName(field.name)
      guard let value = field.value, !names.insert(name).inserted else {
        set(name, field.value.map { Self.value($0, of: field.name) })
        continue
      }
      add(name, Self.value(value, of: field.name))
    }
  }

  private static func value(_ text: String, of name: String) -> FieldValue {
    Secrets.isSecret(name) ? .secret(text) : .text(text)
  }
}
