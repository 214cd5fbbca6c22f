import Foundation

/// The reason why a file could not be used.
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

  /// The kinds of failures, by what the caller can do about them.
  package enum Kind: Sendable, Hashable {
    /// No space is left on the disk or in the quota, or the file would exceed the size limit for files.
    case full
    /// The device reported an error.
    case io
    /// The name is already in use.
    case exists
    /// Access is denied.
    case denied
    /// Another download uses the file.
    case busy
    /// The file or its folder does not exist.
    case notFound
    /// The path holds something that a download never creates: a link, another user's file, or something other than a
    /// regular file.
    case planted
    /// The file has the wrong length.
    case length
    /// The file was closed, or another operation uses it in a conflicting way.
    case closed
    /// Any other failure; the error number has the details.
    case other
  }

  /// The operation that failed.
  package let operation: Operation
  /// The last component of the path; empty if only a descriptor was known.
  package var name: String
  /// The system's error number (`errno`); 0 if no system call failed.
  package let code: Int32
  /// What the caller can do about the failure.
  package let kind: Kind
  /// The reason in words, if the library itself found the failure. It replaces the text for the kind.
  package let detail: String?

  /// Makes a failure from an error number of the system.
  package init(_ operation: Operation, _ path: String = "", code: Int32) {
    self.init(operation, path, Self.kind(of: code, operation), code: code, detail: nil)
  }

  /// Makes a failure that the library found itself.
  package init(_ operation: Operation, _ path: String, _ kind: Kind, code: Int32 = 0, detail: String?) {
    self.operation = operation
    name = PartNames.lastComponent(of: path)
    self.code = code
    self.kind = kind
    self.detail = detail
  }

  /// This failure with the file name of a path, unless it has a file name already.
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
    case .busy: return "another download uses it\(system)"
    case .notFound: return "the file or its folder does not exist\(system)"
    case .planted:
      let found = code == ELOOP ? "a symbolic link" : "something other than a regular file"
      return "\(found) is in its place; remove it and try again"
    case .length: return "it has the wrong length"
    case .closed: return "it is closed"
    case .other: return code == 0 ? "the operation failed" : "\(String(cString: strerror(code))) (error \(code))"
    }
  }

  private var system: String {
    code == 0 ? "" : " (\(String(cString: strerror(code))), error \(code))"
  }
}
