import ErrandCore
import ErrandSupport
import Foundation

/// Opens the partial file of a download, unless an existing file counts as the finished download.
extension DownloadRun {
  /// How a call of a download begins.
  enum Opening: Sendable {
    /// The partial file is open and locked.
    case run(DownloadRun)
    /// The file at the target counts as the finished download (``ErrandCore/Download/acceptsExisting``).
    case existing(DownloadedFile)
  }

  /// Opens and locks the partial file on the disk queue. If another download uses the same target and `whenBusy` is
  /// `.wait`, waits for the end of that download.
  static func open(
    _ download: Download, _ request: HTTPRequest, _ context: CallContext, _ files: any TransferFiles,
    _ retrying: RetryControl, _ now: @escaping @Sendable () -> Int64
  ) async throws -> Opening {
    let target = try download.partTarget(for: request.url)
    let disk = DiskQueue()
    while true {
      try context.call.check()
      do {
        let existing = try await disk.value { try Self.existingFile(at: target, download, files, context) }
        if let existing { return .existing(existing) }
        let part = try await disk.value { try Self.part(of: target, download, files) }
        return .run(DownloadRun(download, request, context, part, disk, retrying, now))
      } catch let failure as FileFailure where failure.kind == .busy && download.whenBusy == .wait {
        try await context.call.sleep(until: context.call.timers.now.advanced(by: .milliseconds(100)))
      }
    }
  }

  private static func part(of target: String, _ download: Download, _ files: any TransferFiles) throws -> PartFile {
    if !download.isNamedByServer { try check(target, download, files) }
    return try PartFile.open(target: target, files: files)
  }

  /// The file at the target if it counts as the finished download; otherwise nil. A file that cannot be read does not
  /// count.
  private static func existingFile(
    at target: String, _ download: Download, _ files: any TransferFiles, _ context: CallContext
  ) throws -> DownloadedFile? {
    guard download.acceptsExisting, !download.isNamedByServer else { return nil }
    do {
      // A partial file belongs to a download that started after the file was complete. That download is continued.
      guard try files.status(at: PartNames(target).part) == nil else { return nil }
      let isLink = try files.status(at: target)?.kind == .link
      let path = isLink ? URL(filePath: target).resolvingSymlinksInPath().path(percentEncoded: false) : target
      guard let status = try files.status(at: path), status.kind == .file,
        status.length <= download.maximumBytes ?? .max
      else { return nil }
      if let checksum = download.checksum, !checksum.matches(try digest(of: path, checksum, files, context)) {
        return nil
      }
      return DownloadedFile(
        url: URL(filePath: target, directoryHint: .notDirectory), bytes: status.length, keptBytes: status.length,
        checkedBy: download.checksum.map { [$0.algorithm.name] } ?? [], alreadyExisted: true)
    } catch is FileFailure {
      return nil
    }
  }

  /// The digest of a whole file, by the algorithm of a checksum.
  private static func digest(
    of path: String, _ checksum: Checksum, _ files: any TransferFiles, _ context: CallContext
  ) throws -> Data {
    let hash = try checksum.makeHash()
    let file = try files.open(path, .reading)
    defer { try? files.close(file) }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { memory.deallocate() }
    var place: Int64 = 0
    while true {
      try context.call.check()
      let count = try files.read(file, into: memory, at: place)
      if count == 0 { return hash.finish() }
      hash.update(UnsafeRawBufferPointer(rebasing: memory[..<count]))
      place += Int64(count)
    }
  }
}
