public import ErrandCore
import ErrandTransfer
public import Foundation

/// Saves credentials in a file that only its user can read (mode 0600).
///
/// A save writes a second file, synchronises it to the disk and renames it, so after a crash the file is the old one or
/// the new one. Saving no credentials removes the file. Symbolic links are not followed. Credentials are not encrypted:
/// for a disk that others can read, write your own ``ErrandCore/CredentialKeeper``, for example with the Keychain.
public struct FileCredentialKeeper: CredentialKeeper {
  private let path: String
  /// The file that a save writes and then renames to `path`.
  private var draft: String { path + ".new" }
  private let files: any TransferFiles

  /// Creates a keeper.
  ///
  /// - Parameter file: The file; its folder must exist. Only one process at a time may use it.
  public init(file: URL) {
    self.init(file: file, files: SystemFiles())
  }

  package init(file: URL, files: any TransferFiles) {
    path = file.path(percentEncoded: false)
    self.files = files
  }

  /// Reads the file and returns its accounts, or nil if the file does not exist. Sets the mode of the file to 0600.
  /// - Throws: An error whose description names the file and says how to fix the problem, if the file is unreadable or was not written by
  ///   ``save(_:)``.
  public func load() throws -> KeptAccounts? {
    guard try files.status(at: path) != nil else { return nil }
    let file = try files.open(path, .reading)
    defer { try? files.close(file) }
    let status = try files.status(of: file)
    guard status.kind == .file, status.isOwn, status.links == 1, status.length <= Self.limit else {
      throw Unusable(
        path: path,
        reason: "it must be a regular file of this user with one name and at most 1 MiB; remove it and log in again")
    }
    try files.setPermissions(of: file, to: 0o600)
    var bytes = Data(count: Int(status.length))
    let count = try bytes.withUnsafeMutableBytes { memory in
      try files.read(file, into: memory, at: 0)
    }
    do {
      return try JSONDecoder().decode(KeptAccounts.self, from: bytes.prefix(count))
    } catch {
      // The decoder's error is dropped because it may quote credentials.
      throw Unusable(
        path: path, reason: "its content was not saved by this library or is damaged; remove it and log in again")
    }
  }

  /// Replaces the file, or removes it if `accounts` has no credentials.
  /// - Throws: An error whose description names the file and says how to fix the problem, also if the accounts take more than 1 MiB; the
  ///   old file remains unchanged.
  public func save(_ accounts: KeptAccounts) throws {
    if accounts.credentials.isEmpty {
      for name in [path, draft] where try files.status(at: name) != nil { try files.remove(name) }
    } else {
      let bytes = try JSONEncoder().encode(accounts)
      guard bytes.count <= Self.limit else {
        throw Unusable(path: path, reason: "the accounts take more than 1 MiB; use your own `CredentialKeeper`")
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

  /// The file cannot be read as accounts, or the accounts are too large for it.
  private struct Unusable: Error, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String {
      "The accounts in “\((path as NSString).lastPathComponent)” cannot be used: \(reason)."
    }
  }
}
