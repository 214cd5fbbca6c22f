import Errand
import ErrandChecksum
import ErrandCore
import ErrandSupport
import ErrandTransfer
import Foundation

/// Determines the downloads and their targets from the options.
struct DownloadPlan {
  private let options: DownloadOptions

  init(_ options: DownloadOptions) { self.options = options }

  /// The downloads in the order of the arguments, and the reasons why some interrupted downloads are left out.
  func jobs() throws(Refusal) -> (jobs: [DownloadJob], leftOut: [Refusal]) {
    if let output = options.output { return ([try job(to: try file(output))], []) }
    let path = options.folder ?? "."
    if options.urls.isEmpty {
      let found = try interrupted(in: Self.folder(path))
      try checkShared(found.jobs, path)
      return found
    }
    let folder = try madeFolder(path)
    let naming: Download.Naming = options.takesServerName ? .fromServer : .fromURL
    let jobs = options.urls.map { url in
      DownloadJob(url, into: folder, named: naming, resource: options.resource, checksum: options.checksum)
    }
    for job in jobs { try Self.check(job) }
    try check(jobs)
    return (jobs, [])
  }

  private func job(to file: URL) throws(Refusal) -> DownloadJob {
    if let url = options.urls.first { return DownloadJob(url, to: file, checksum: options.checksum) }
    let folder = file.deletingLastPathComponent()
    guard let job = try interrupted(in: folder, to: file).jobs.first else { throw Self.nothing(in: folder, to: file) }
    return job.keepingFileName
  }

  // MARK: - Targets

  /// The file to write. If the path is a symbolic link, the file behind the link is replaced and the link stays.
  /// Folders, devices and pipes are rejected, also a missing folder that a slash at the end of the path names.
  private func file(_ path: String) throws(Refusal) -> URL {
    let place = LinkedFile.place(path)
    var status = stat()
    // The path as it was given comes first: a link to an open pipe, such as /dev/stdout, leads to no place.
    let isThere = stat(path, &status) == 0 || lstat(place, &status) == 0
    if LinkedFile.namesFolder(place) || isThere && status.st_mode & S_IFMT == S_IFDIR {
      throw Refusal(description: "“\(path)” is a folder; use -d for a folder", code: .usage)
    }
    guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
      throw Refusal(
        description: "“\(path)” is not a regular file; write to it with “errand send URL -o FILE”", code: .usage)
    }
    return URL(filePath: place, directoryHint: .notDirectory)
  }

  /// The folder to which a path leads, as the system resolves it.
  private static func folder(_ path: String) -> URL {
    URL(filePath: LinkedFile.place(path), directoryHint: .isDirectory)
  }

  /// The folder to which a path leads. Creates the folder if it is missing.
  private func madeFolder(_ path: String) throws(Refusal) -> URL {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw Refusal(
        description: "The folder “\(path)” cannot be created or used: \(SystemReason.of(error)).", code: .disk)
    }
    return Self.folder(path)
  }

  private static func check(_ job: DownloadJob) throws(Refusal) {
    if job.target != nil { return }
    do {
      _ = try HTTPURL(job.url)
    } catch {
      throw Refusal(description: "\(error)", code: .usage)
    }
    throw Refusal(
      description: "\(job.name) does not end in a file name; give one with -o, or use the server's name with -J.",
      code: .usage)
  }

  private func check(_ jobs: [DownloadJob]) throws(Refusal) {
    var places: Set<URL> = []
    for job in jobs {
      guard let target = job.partTarget, !places.insert(target).inserted else { continue }
      throw Refusal(
        description: "Two of the URLs give the file name “\(job.name)”; download one of them separately, with -o.",
        code: .usage)
    }
  }

  // MARK: - Interrupted downloads

  /// The interrupted downloads in a folder that can be resumed without further options, and the reasons why other
  /// interrupted downloads cannot be resumed. If `file` is given, only the download to this file is considered. Throws
  /// if no download can be resumed.
  private func interrupted(
    in folder: URL, to file: URL? = nil
  ) throws(Refusal) -> (jobs: [DownloadJob], leftOut: [Refusal]) {
    let target = file?.path(percentEncoded: false)
    let parts: [InterruptedPart]
    do {
      parts = try InterruptedPart.all(in: folder.path(percentEncoded: false)).filter { part in
        target.map(part.target.hasSameBytes(as:)) ?? true
      }
    } catch {
      let isThere = FileManager.default.fileExists(atPath: folder.path(percentEncoded: false))
      throw isThere ? Refusal(description: "\(error)", code: .disk) : Self.nothing(in: folder, to: file)
    }
    var (jobs, leftOut): ([DownloadJob], [Refusal]) = ([], [])
    for part in parts {
      do {
        jobs.append(try job(resuming: part))
      } catch {
        leftOut.append(error)
      }
    }
    if jobs.isEmpty { throw leftOut.first ?? Self.nothing(in: folder, to: file) }
    return (jobs, leftOut)
  }

  /// Rejects options that are meant for some of the interrupted downloads, whose URLs the user does not see. A file with
  /// another checksum would be deleted, and a credential would be sent to other servers.
  private func checkShared(_ jobs: [DownloadJob], _ path: String) throws(Refusal) {
    guard options.checksum == nil || jobs.count == 1 else {
      throw Refusal(
        description: "A checksum is for one file, but “\(path)” has \(jobs.count) interrupted downloads; name the file "
          + "with -o.", code: .usage)
    }
    let servers = Set(jobs.compactMap { try? HTTPURL($0.url).origin }).count
    guard servers == 1 || !options.hasCredential else {
      throw Refusal(
        description: "The credential is for one server, but “\(path)” has interrupted downloads from \(servers) "
          + "servers; name the file with -o.", code: .usage)
    }
  }

  private static func nothing(in folder: URL, to file: URL?) -> Refusal {
    let name = file.map { " of “\($0.lastPathComponent)”" } ?? ""
    return Refusal(
      description: "There is no interrupted download\(name) in “\(folder.path(percentEncoded: false))”; give the URL "
        + "of a file to download.", code: .notStored)
  }

  private func job(resuming part: InterruptedPart) throws(Refusal) -> DownloadJob {
    let file = URL(filePath: part.target, directoryHint: .notDirectory)
    let (name, request) = (file.lastPathComponent, part.metadata.request)
    guard (try? HTTPURL(request.url)) != nil else {
      throw Refusal(
        description: "“\(name)” was started with --resource; give --resource and a URL again.", code: .usage)
    }
    guard request.method == HTTPMethod.get.rawValue else {
      throw Refusal(
        description: "“\(name)” was started with the method \(request.method), but this command sends only GET; resume "
          + "it with the program that started it.", code: .usage)
    }
    var checksum = options.checksum
    if checksum == nil { checksum = try Self.recorded(part.metadata.checksum, of: name) }
    return DownloadJob(request.url, resuming: file, part.metadata.choices, checksum: checksum)
  }

  /// The checksum that the interrupted download required; nil if it required none. Throws if this command cannot
  /// compute it, because the file would be complete without its check.
  private static func recorded(_ checksum: RecordedChecksum?, of name: String) throws(Refusal) -> Checksum? {
    guard let checksum else { return nil }
    let algorithm = [DigestAlgorithm].standard.first { $0.name == checksum.algorithm }
    if let known = algorithm.flatMap({ try? Checksum($0, checksum.hex) }) { return known }
    throw Refusal(
      description: "“\(name)” requires a \(checksum.algorithm) checksum, which this command cannot compute; resume it "
        + "with the program that started it.", code: .usage)
  }
}
