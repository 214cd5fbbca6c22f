public import Foundation

/// The login data of a netrc file, as `curl` and `ftp` read it: a user name and a password for each host.
///
/// ```swift
/// let logins = try Netrc(contentsOf: home.appending(path: ".netrc"))
/// configuration.credentials = logins.credential(for: "api.example.com").map { FixedCredential($0) }
/// ```
///
/// The file is read only by this initializer, never by a client itself. Host names are compared without regard to case.
/// Texts with spaces are written in double quotes, with `\"`, `\\`, `\n`, `\r` and `\t` as escapes. The entries
/// `account` and `macdef` are skipped. Printed values show no passwords.
public struct Netrc: Sendable {
  private struct Login: Sendable {
    /// The host in lower case; nil for the entry `default`.
    var host: [UInt8]?
    var user: String?
    var password: String?
  }

  private let logins: [Login]

  /// Reads a file in UTF-8.
  /// - Throws: ``APIError`` with the stage `build` and the code ``APIError/Code/file`` if the file cannot be read, and
  ///   the errors of ``init(_:)``.
  public init(contentsOf url: URL) throws(APIError) {
    guard url.isFileURL else {
      throw .build(.file, "The URL of the netrc file is not a file URL; make it with `URL(filePath:)`.")
    }
    let data: Data
    do { data = try Data(contentsOf: url) } catch {
      throw .build(
        .file,
        "The netrc file \(Redaction.visible(url.path(percentEncoded: false))) cannot be read: \(Self.reason(error)).",
        cause: error)
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw .build(
        .file, "The netrc file \(Redaction.visible(url.path(percentEncoded: false))) is not UTF-8; convert it.")
    }
    try self.init(text)
  }

  /// Reads the content of a netrc file.
  /// - Throws: ``APIError`` with the stage `build` and the code ``APIError/Code/file``. The message names the line, but
  ///   quotes no text, which may be a password.
  public init(_ text: String) throws(APIError) {
    var scanner = NetrcScanner(text)
    var logins: [Login] = []
    while let word = try scanner.word() {
      switch word {
      case "machine": logins.append(Login(host: Self.lowercased(try scanner.value(of: word))))
      case "default": logins.append(Login())
      case "macdef": scanner.skipMacro()
      case "login", "password", "account":
        let value = try scanner.value(of: word)
        guard let last = logins.indices.last else { throw scanner.fault("\"\(word)\" has no \"machine\" before it") }
        if word == "login" { logins[last].user = value }
        if word == "password" { logins[last].password = value }
      default:
        throw scanner.fault("a word is none of machine, default, login, password, account and macdef")
      }
    }
    self.logins = logins
  }

  /// The basic credential of a host: that of the first entry with its name, otherwise that of the first `default`. Nil
  /// if there is no entry or if it has no user name. A missing password is empty.
  public func credential(for host: String) -> Credential? {
    let host = Self.lowercased(host)
    let login = logins.first { $0.host == host } ?? logins.first { $0.host == nil }
    return login?.user.map { .basic(user: $0, password: login?.password ?? "") }
  }

  private static func lowercased(_ text: String) -> [UInt8] { text.utf8.map(ASCII.lowercased) }

  private static func reason(_ error: any Error) -> String {
    (error as NSError).code == CocoaError.fileReadNoSuchFile.rawValue
      ? "it does not exist" : "\((error as NSError).localizedDescription)"
  }
}

extension Netrc: Masked {
  /// The number of entries, without their content.
  public var description: String { "\(logins.count) netrc entries" }
}

/// Splits a netrc file into words.
private struct NetrcScanner {
  private var rest: ArraySlice<UInt8>
  private var line = 1

  init(_ text: String) { rest = Array(text.utf8)[...] }

  /// The next word; nil at the end of the file. A word that begins with `#` starts a comment up to the end of the line.
  mutating func word() throws(APIError) -> String? {
    while let byte = rest.first {
      if byte == UInt8(ascii: "#") {
        skipLine()
      } else if Self.isSpace(byte) {
        take()
      } else {
        return byte == UInt8(ascii: "\"") ? try quoted() : plain()
      }
    }
    return nil
  }

  /// The word after `name`, which may begin with `#`.
  mutating func value(of name: String) throws(APIError) -> String {
    while let byte = rest.first, Self.isSpace(byte) { take() }
    guard let first = rest.first else { throw fault("\"\(name)\" has no value after it") }
    return first == UInt8(ascii: "\"") ? try quoted() : plain()
  }

  /// Skips the definition of a macro, which ends at an empty line.
  mutating func skipMacro() {
    skipLine()
    while !rest.isEmpty {
      let isEmpty = rest.first == 0x0A || rest.starts(with: [0x0D, 0x0A])
      skipLine()
      if isEmpty { return }
    }
  }

  func fault(_ clause: String) -> APIError {
    .build(.file, "Line \(line) of the netrc file is invalid: \(clause); correct the file.")
  }

  private mutating func plain() -> String {
    let word = rest.prefix { !Self.isSpace($0) }
    rest = rest[word.endIndex...]
    return String(decoding: word, as: UTF8.self)
  }

  private mutating func quoted() throws(APIError) -> String {
    let start = self
    take()
    var bytes: [UInt8] = []
    while let byte = rest.first {
      take()
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let escaped = rest.first else { break }
        take()
        bytes.append(Self.unescaped(escaped))
      default: bytes.append(byte)
      }
    }
    throw start.fault("a text has no closing quote")
  }

  private static func unescaped(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: byte
    }
  }

  private mutating func take() {
    if rest.first == 0x0A { line += 1 }
    rest = rest.dropFirst()
  }

  private mutating func skipLine() {
    while let byte = rest.first {
      take()
      if byte == 0x0A { return }
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
