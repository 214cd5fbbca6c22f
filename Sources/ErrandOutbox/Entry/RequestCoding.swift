import ErrandCore
import ErrandHTTP
import ErrandSupport
public import Foundation

/// The stored form of a request.
struct EncodedRequest {
  var version: Int
  var data: Data
  var isSealed: Bool
  /// The entries to which the request refers.
  var parents: [Int64]
  /// The files of the app that belong to the request, by their names in the folder of the outbox.
  var newFiles: [String: URL] = [:]
  /// The names of all files of the request.
  var files: Set<String> = []
}

/// Encrypts the stored requests of an ``Outbox``, for example with `AES.GCM` of CryptoKit and a key from the keychain.
///
/// ``seal(_:)`` is called on any thread, ``open(_:)`` on the thread of the outbox.
public protocol OutboxSeal: Sendable {
  /// Returns the sealed form of the bytes.
  func seal(_ bytes: Data) throws -> Data
  /// Returns the bytes of a sealed form.
  ///
  /// If the function throws, the entry is tried again later and no attempt is spent, because the key may be unavailable
  /// for a while, for example while the device is locked. Throw ``OutboxError/unreadable(_:)`` if the form can never be
  /// opened, for example because it was changed: the entry is then parked.
  func open(_ sealed: Data) throws -> Data
}

/// Collects the entries to which a request refers, and its files, while the request is encoded.
final class RequestCollector: @unchecked Sendable {  // used only during one synchronous call of an encoder
  static let key = CodingUserInfoKey(rawValue: "errand.outbox.collector")
  var found: Set<Int64> = []
  private(set) var newFiles: [String: URL] = [:]
  private(set) var files: Set<String> = []
  /// The entry whose files the request may keep; nil for a new entry.
  private let entry: Int64?

  init(_ entry: Int64?) { self.entry = entry }

  func name(of file: OutboxFile) -> String {
    if let stored = file.stored, stored.entry == entry {
      files.insert(stored.name)
      return stored.name
    }
    if let known = newFiles.first(where: { $0.value == file.url }) { return known.key }
    let name = AttachedFiles.newName()
    newFiles[name] = file.url
    files.insert(name)
    return name
  }
}

/// Finds the identifiers that entries have created, and the files of the request, while a request is decoded.
final class RequestResolver: @unchecked Sendable {  // the store is used only under the lock, and not after `end()`
  static let key = CodingUserInfoKey(rawValue: "errand.outbox.resolver")
  private let isOver = Locked(false)
  /// Whether the request is sent. If it is only read for its patches, references without an identifier stay as they
  /// are, and its files may have been removed after its delivery.
  let isSent: Bool
  private let entry: Int64
  private let store: OutboxStore

  init(_ entry: Int64, _ store: OutboxStore, isSent: Bool) {
    self.entry = entry
    self.store = store
    self.isSent = isSent
  }

  /// The identifier that an entry has created; nil if there is none.
  func find(_ entry: Int64) throws -> String? { try isOver.withLock { try $0 ? nil : store.made(by: entry) } }

  /// A file of the outbox. If the request is sent, the file is unchanged since it was added.
  func file(_ file: String, _ name: String) throws -> (URL, OutboxFile.Stored) {
    let place = (URL(filePath: store.files.path(file)), OutboxFile.Stored(name: file, entry: entry))
    if !isSent, AttachedFiles.isName(file) { return place }
    let known = try isOver.withLock { try $0 ? nil : store.file(file, of: entry) }
    guard let known else { throw OutboxError(.file, "The file “\(name)” does not belong to the entry.") }
    guard store.files.facts(file) == known else {
      throw OutboxError(.file, "The file “\(name)” was changed or removed after the request was added.")
    }
    return place
  }

  /// Ends the use of the store. An app may keep a ``StoredRequest`` longer than ``OutboxRequest/migrate(_:)`` runs.
  func end() { isOver.withLock { $0 = true } }
}

struct RequestCoding: Sendable {
  var seal: (any OutboxSeal)?

  /// Encodes a request, and finds the entries to which it refers and its files.
  /// - Parameter entry: The entry whose files the request keeps; nil for a new entry.
  func encode<R: OutboxRequest>(_ request: R, of entry: Int64? = nil) throws(OutboxError) -> EncodedRequest {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let collector = RequestCollector(entry)
    if let key = RequestCollector.key { encoder.userInfo[key] = collector }
    let json: Data
    do { json = try encoder.encode(request) } catch {
      throw OutboxError(.encoding, "\(R.self) cannot be encoded: \(AppErrorText.of(error))")
    }
    if seal == nil, let name = SecretNames.first(in: json) {
      throw OutboxError(
        .secret,
        "The property `\(name)` of \(R.self) looks like a secret, which would be stored in plain text; give the outbox a"
          + " `seal`, or let the client add the secret when it sends the request.")
    }
    do {
      let data = try seal?.seal(json) ?? json
      return EncodedRequest(
        version: R.outboxVersion, data: data, isSealed: seal != nil, parents: collector.found.sorted(),
        newFiles: collector.newFiles, files: collector.files)
    } catch {
      throw OutboxError(.encoding, "\(R.self) cannot be sealed: \(AppErrorText.of(error))")
    }
  }

  /// Decodes a request.
  /// - Parameter isSent: False to read only the patches of the request.
  func decode<R: OutboxRequest>(
    _ type: R.Type, _ stored: StoredEntry, _ store: OutboxStore, isSent: Bool = true
  ) throws -> R {
    let resolver = RequestResolver(stored.facts.id, store, isSent: isSent)
    defer { resolver.end() }
    let old = StoredRequest(
      type: stored.facts.type, version: stored.facts.version, json: try open(stored), resolver: resolver)
    return stored.facts.version == R.outboxVersion ? try old.decode(R.self) : try R.migrate(old)
  }

  func open(_ stored: StoredEntry) throws -> Data {
    guard stored.facts.isSealed else { return stored.request }
    guard let seal else { throw OutboxError(.unreadable, "The stored request is sealed, and the outbox has no seal.") }
    do { return try seal.open(stored.request) } catch let error as OutboxError { throw error } catch {
      throw SealFailure(cause: error)
    }
  }
}

/// A seal could not open a stored request now.
struct SealFailure: Error {
  let cause: any Error
}

/// Finds properties that look like secrets. The list is shorter than that for masked logs, because a harmless property
/// such as `pin` or `key` must not make a request impossible to store.
enum SecretNames {
  private static let parts = [
    "password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "authorization", "cookie",
    "apikey", "privatekey", "sessionid",
  ].map { Array($0.utf8) }

  /// The first member of a JSON text whose name contains a word for secrets; nil if there is none. Letters are compared
  /// without regard to case, hyphens and underscores.
  static func first(in json: Data) -> String? {
    json.withUnsafeBytes { bytes in
      var place = 0
      while let start = bytes[place...].firstIndex(of: quote) {
        var end = start + 1
        while end < bytes.count, bytes[end] != quote { end += bytes[end] == backslash ? 2 : 1 }
        guard end < bytes.count else { return nil }
        // A string before a colon is a name.
        if end + 1 < bytes.count, bytes[end + 1] == colon, isSecret(bytes[(start + 1)..<end]) {
          return String(decoding: bytes[(start + 1)..<end], as: UTF8.self)
        }
        place = end + 1
      }
      return nil
    }
  }

  private static let (quote, backslash, colon) = (UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: ":"))

  private static func isSecret(_ name: Slice<UnsafeRawBufferPointer>) -> Bool {
    let letters = name.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }.map(ASCII.lowercased)
    return parts.contains { letters.firstRange(of: $0) != nil }
  }
}
