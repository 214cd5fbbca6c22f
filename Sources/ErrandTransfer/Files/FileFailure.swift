import Foundation

/// Why a file could not be used.
package struct FileFailure: Error, Sendable, Hashable {
  /// What was tried.
  package enum Operation: String, Sendable, Hashable, CaseIterable {
    case open = "opened"
    case close = "closed"
    case read = "read"
    case write = "written"
    case truncate = "cut"
    case synchronize = "brought to the disk"
    case status = "examined"
    case permissions = "given its permissions"
    case reserve = "given its room"
    case space = "asked for its free space"
    case lock = "locked"
    case rename = "renamed"
    case remove = "removed"
    case list = "listed"
  }

  /// What the caller can do about it.
  package enum Kind: Sendable, Hashable {
    /// No room: disk, quota or the limit of a file's size.
    case full
    /// The device failed.
    case io
    /// The name is taken.
    case exists
    /// Not allowed.
    case denied
    /// Another download has the file.
    case busy
    /// There is no such file or folder.
    case notFound
    /// Something lies in the file's place that a download never makes: a link, another user's file, no file at all.
    case planted
    /// The file is not as long as it must be.
    case length
    /// The file was closed or is being used in a way that does not go together.
    case closed
    /// Anything else; the code says what.
    case other
  }

  /// What was tried.
  package let operation: Operation
  /// The last component of the path; empty where only a descriptor was known.
  package var name: String
  /// The system's number; 0 where the system did not fail.
  package let code: Int32
  /// What the caller can do about it.
  package let kind: Kind
  /// More words on what was found.
  package let detail: String?

  /// Makes a failure of the system's number.
  package init(_ operation: Operation, _ path: String = "", code: Int32) {
    self.init(operation, path, Self.kind(of: code, operation), code: code, detail: nil)
  }

  /// Makes a failure that was found here.
  package init(_ operation: Operation, _ path: String, _ kind: Kind, code: Int32 = 0, detail: String?) {
    self.operation = operation
    name = PartNames.lastComponent(of: path)
    self.code = code
    self.kind = kind
    self.detail = detail
  }

  /// The same failure with a name, where it had none.
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
  /// One sentence: the file, what failed, why, and what helps.
  package var description: String {
    let subject = name.isEmpty ? "The file" : "The file “\(name)”"
    return "\(subject) could not be \(operation.rawValue): \(reason)."
  }

  private var reason: String {
    if let detail { return detail }
    switch kind {
    case .full: return "there is no room left\(system); make room and go on"
    case .io: return "the disk failed\(system)"
    case .exists: return "the name is taken\(system)"
    case .denied: return "it is not allowed\(system)"
    case .busy: return "another download has it\(system)"
    case .notFound: return "it or its folder is not there\(system)"
    case .planted:
      let found = code == ELOOP ? "a symbolic link" : "no plain file"
      return "\(found) lies in its place; remove it to go on"
    case .length: return "it is not as long as it must be"
    case .closed: return "it has been closed"
    case .other: return code == 0 ? "it failed" : "\(String(cString: strerror(code))) (error \(code))"
    }
  }

  private var system: String {
    code == 0 ? "" : " (\(String(cString: strerror(code))), error \(code))"
  }
}
