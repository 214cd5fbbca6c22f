public import ErrandCore
import ErrandTransfer
public import Foundation

/// Keeps credentials in a file that its user alone can read (mode 0600).
///
/// What is saved is written beside the file, brought to the disk and renamed into its place: whatever happens, the file
/// is the old one or the new one. Where nobody is logged in any more the file is removed. Links are not followed. The
/// credentials stand in it as they are: a disk that others can read wants a keeper of your own, such as a Keychain.
public struct FileCredentialKeeper: CredentialKeeper {
  private let path: String
  /// Where it is written before it takes the place of the old one.
  private var draft: String { path + ".new" }
  private let files: any TransferFiles

  /// Makes a keeper.
  ///
  /// - Parameter file: Where to keep them; its folder must be there. One process at a time may use it.
  public init(file: URL) {
    self.init(file: file, files: SystemFiles())
  }

  package init(file: URL, files: any TransferFiles) {
    path = file.path(percentEncoded: false)
    self.files = files
  }

  /// Reads the file; nil where there is none. One that others can read is taken from them.
  /// - Throws: An error whose description names the file and the cure: not readable, or not what ``save(_:)`` wrote.
  public func load() throws -> KeptAccounts? {
    guard try files.status(at: path) != nil else { return nil }
    let file = try files.open(path, .reading)
    defer { try? files.close(file) }
    let status = try files.status(of: file)
    guard status.kind == .file, status.isOwn, status.links == 1, status.length <= Self.limit else {
      throw Unusable(
        path: path,
        reason: "it is no plain file of this user with one name and at most 1 MiB; remove it and log in again")
    }
    try files.setPermissions(of: file, to: 0o600)
    var bytes = Data(count: Int(status.length))
    let count = try bytes.withUnsafeMutableBytes { memory in
      try files.read(file, into: memory, at: 0)
    }
    do {
      return try JSONDecoder().decode(KeptAccounts.self, from: bytes.prefix(count))
    } catch {
      // The decoder's own words may show what stands there.
      throw Unusable(
        path: path, reason: "it holds no accounts that were saved by this library; remove it and log in again")
    }
  }

  /// Writes the file anew, or removes it where nobody is logged in.
  /// - Throws: An error whose description names the file and the cure, also where the accounts take more than 1 MiB;
  ///   the old file is left as it was.
  public func save(_ accounts: KeptAccounts) throws {
    if accounts.credentials.isEmpty {
      for name in [path, draft] where try files.status(at: name) != nil { try files.remove(name) }
    } else {
      let bytes = try JSONEncoder().encode(accounts)
      guard bytes.count <= Self.limit else {
        throw Unusable(path: path, reason: "they take more than 1 MiB; keep them in a keeper of your own")
      }
      try write(bytes)
    }
    try files.synchronizeFolder((path as NSString).deletingLastPathComponent)
  }

  private func write(_ bytes: Data) throws {
    if try files.status(at: draft) != nil { try files.remove(draft) }
    let file = try files.open(draft, .new)
    do {
      defer { try? files.close(file) }
      try bytes.withUnsafeBytes { bytes in try files.write(file, bytes, at: 0) }
      try files.synchronize(file)
      try files.rename(draft, to: path)
    } catch {
      try? files.remove(draft)
      throw (error as? FileFailure)?.named(path) ?? error
    }
  }

  private static var limit: Int64 { 1 << 20 }

  /// A file that holds no accounts, or accounts that no file holds.
  private struct Unusable: Error, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String {
      "The accounts in “\((path as NSString).lastPathComponent)” cannot be used: \(reason)."
    }
  }
}
