import Foundation

/// The failure of a file operation: the operation, the file and the reason.
package struct FileFailure: Error, Sendable, Hashable {
  /// An operation on a file. The raw value completes the sentence "The file could not be …".
  package enum Operation: String, Sendable, Hashable, CaseIterable {
    case open = "opened"
    case close = "closed"
    case read = "read"
    case write = "written"
    case truncate = "truncated"
    case synchronize = "synchronized to disk"
    case status = "examined"
    case permissions = "given its permissions"
    case reserve = "allocated on the disk"
    case space = "checked for free space"
    case lock = "locked"
    case rename = "renamed"
    case remove = "removed"
    case list = "listed"
  }

  /// The kinds of failures. They differ in what the caller can do about the failure.
  package enum Kind: Sendable, Hashable {
    /// The disk or the quota has no space left, or the file would exceed the size limit of the system.
    case full
    /// The disk or another device reported an input or output error.
    case io
    /// The name is already in use by another file.
    case exists
    /// The system denies access to the file.
    case denied
    /// Another download uses the file.
    case busy
    /// The file or its folder does not exist.
    case notFound
    /// An object that no download creates is at the path of the file: a link, a file of another user, or something
    /// other than a regular file.
    case planted
    /// The file has the wrong length.
    case length
    /// The file was closed, or another operation uses it in a conflicting way.
    case closed
    /// The failure has a reason that no other case describes. The error number contains the details.
    case other
  }

  package let operation: Operation
  /// The last component of the path of the file. Empty if the operation knew only the descriptor of the file.
  package var name: String
  /// The system's error number (`errno`); 0 if no system call failed.
  package let code: Int32
  /// The kind of the failure. It determines what the caller can do about it.
  package let kind: Kind
  /// The reason of the failure in words, if the library itself found the failure. The error message contains this text
  /// in place of the general text for the kind of the failure.
  package let detail: String?
  /// Whether ``name`` is the name of a folder.
  private let isFolder: Bool

  /// Makes a failure from an error number of the system.
  package init(_ operation: Operation, _ path: String = "", code: Int32) {
    self.init(operation, path, Self.kind(of: code, operation), code: code, detail: nil)
  }

  /// Makes a failure that the library found itself.
  package init(
    _ operation: Operation, _ path: String, _ kind: Kind, code: Int32 = 0, detail: String?, isFolder: Bool = false
  ) {
    self.operation = operation
    self.isFolder = isFolder
    let end = path.utf8.lastIndex { $0 != 0x2F }
    name = PartNames.lastComponent(of: end.map { String(path[...$0]) } ?? path)
    self.code = code
    self.kind = kind
    self.detail = detail
  }

  /// The failure of a target whose folder cannot contain a file. Nil if the folder exists.
  package static func unusable(folder: String, _ files: any TransferFiles) -> FileFailure? {
    switch (try? files.status(at: folder))?.kind {
    case .folder, .link: nil
    case .file, .other:
      FileFailure(
        .open, folder, .notFound,
        detail: "it is a file; choose a folder, or name the file of the download with `Download.to`", isFolder: true)
    case nil:
      FileFailure(
        .open, folder, .notFound, detail: "it does not exist; create it before the download", isFolder: true)
    }
  }

  /// Returns a copy of this failure with the file name of a path. If this failure already has a file name, the copy is
  /// unchanged.
  package func named(_ path: String) -> FileFailure {
    var named = self
    if name.isEmpty { named.name = PartNames.lastComponent(of: path) }
    return named
  }

  private static func kind(of code: Int32, _ operation: Operation) -> Kind {
    switch code {
    case EISDIR where operation == .open, ENXIO where operation == .open: .planted
    case ENOSPC, EDQUOT, EFBIG: .full
    case EIO, ENXIO, ENODEV: .io
    case EEXIST, ENOTEMPTY, EISDIR: .exists
    case EACCES, EPERM, EROFS: .denied
    case EWOULDBLOCK where operation == .lock: .busy
    case EBUSY, ETXTBSY: .busy
    case ENOENT, ENOTDIR: .notFound
    case ELOOP: .planted
    default: .other
    }
  }
}

extension FileFailure: CustomStringConvertible {
  /// One sentence with the file, the operation, the reason, and often a cure.
  package var description: String {
    if isFolder { return "The folder “\(name)” cannot be used: \(reason)." }
    let subject = name.isEmpty ? "The file" : "The file “\(name)”"
    return "\(subject) could not be \(operation.rawValue): \(reason)."
  }

  private var reason: String {
    if let detail { return detail }
    switch kind {
    case .full: return "there is no space left\(system); free some space and try again"
    case .io: return "the disk reported an error\(system)"
    case .exists: return "the name is already in use\(system)"
    case .denied: return "access is denied\(system)"
    case .busy: return "another download uses the file\(system)"
    case .notFound: return "the file or its folder does not exist\(system)"
    case .planted:
      let found = code == ELOOP ? "a symbolic link" : "something other than a regular file"
      return "\(found) is in the place of the file; remove it and try again"
    case .length: return "the file has the wrong length"
    case .closed: return "the file is closed"
    case .other where code == ENAMETOOLONG:
      return "the path is too long\(system); use a file name of at most \(FileName.limit) bytes, or another folder"
    case .other: return code == 0 ? "the operation failed" : "\(String(cString: strerror(code))) (error \(code))"
    }
  }

  private var system: String {
    code == 0 ? "" : " (\(String(cString: strerror(code))), error \(code))"
  }
}
