public import ErrandCore
import ErrandJSON
import ErrandSupport
import ErrandTransfer
public import Foundation

/// Stores credentials in a file that only the current user can read (mode 0600).
///
/// A save writes a second file, synchronises it to the disk and gives it the name of the first file. So after a crash,
/// the file has either the old or the new content. Saving no credentials removes the file. Symbolic links are not
/// followed. Credentials are not encrypted. If other people can read the disk, write your own
/// ``ErrandCore/CredentialKeeper``, for example with the Keychain.
///
/// Other users must not be able to rename files in the folder of the file or to replace a folder above it. Otherwise
/// they could move the file away before a logout, and back afterwards. In such a folder nothing is loaded or saved.
public struct FileCredentialKeeper: CredentialKeeper {
  private let path: String
  /// The path of the file that a save writes and then renames to `path`.
  private var temporaryPath: String { path + ".new" }
  private let files: any TransferFiles

  /// Creates a keeper that stores credentials in a file.
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
  /// - Throws: An error if the file is unreadable, was not written by ``save(_:)``, or if other users could replace it.
  ///   The description of the error names the file and says how to fix the problem.
  public func load() throws -> KeptAccounts? {
    guard try files.status(at: path) != nil else { return nil }
    try checkFolder()
    let file = try files.open(path, .reading)
    defer { try? files.close(file) }
    let status = try files.status(of: file)
    guard status.kind == .file, status.isOwn, status.links == 1, status.length <= Self.limit else {
      throw Unusable(
        path: path,
        reason: "the file must be a regular file of the current user, with at most 1 MiB and one hard link;"
          + " remove the file and log in again")
    }
    try files.setPermissions(of: file, to: 0o600)
    var bytes = Data(count: Int(status.length))
    let count = try bytes.withUnsafeMutableBytes { memory in
      try files.read(file, into: memory, at: 0)
    }
    do {
      return try JSONDecoder().decodeChecked(KeptAccounts.self, from: bytes.prefix(count))
    } catch {
      // The decoder's error is dropped because it may quote credentials.
      throw Unusable(
        path: path, reason: "the file is damaged or was not saved by this library; remove the file and log in again")
    }
  }

  /// Replaces the file, or removes it if `accounts` has no credentials. The file is removed whoever may write to its
  /// folder.
  /// - Throws: An error if the file cannot be written, if other users could replace it, or if the accounts take more
  ///   than 1 MiB. The description of the error names the file and says how to fix the problem. The old file remains
  ///   unchanged.
  public func save(_ accounts: KeptAccounts) throws {
    if accounts.credentials.isEmpty {
      for name in [path, temporaryPath] where try files.status(at: name) != nil { try files.remove(name) }
    } else {
      try checkFolder()
      let bytes = try JSONEncoder().encode(accounts)
      guard bytes.count <= Self.limit else {
        throw Unusable(
          path: path, reason: "the accounts take more than 1 MiB; save them with your own `CredentialKeeper`")
      }
      do {
        try files.replace(path, with: bytes, by: temporaryPath)
      } catch {
        throw (error as? FileFailure)?.named(path) ?? error
      }
    }
    try files.synchronizeFolder((path as NSString).deletingLastPathComponent)
  }

  /// Throws if other users could put another file in the place of the file.
  private func checkFolder() throws {
    guard let fault = PrivateFolder.parentFault(path) else { return }
    throw Unusable(path: path, reason: "it is not safe from other users. \(fault.sentence(path))")
  }

  private static var limit: Int64 { 1 << 20 }

  /// The error if the file cannot be read as accounts, or if the accounts are too large for the file.
  private struct Unusable: Error, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String {
      let end = reason.hasSuffix(".") ? "" : "."
      return "The credential file “\((path as NSString).lastPathComponent)” cannot be used: \(reason)\(end)"
    }
  }
}
