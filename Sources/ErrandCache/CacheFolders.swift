import ErrandSupport
public import ErrandCore
public import Foundation

/// Chooses another folder for the responses to certain requests. Each folder is a separate store with its own limit.
///
/// ```swift
/// CacheFolderFilter { folder, request in
///   request is Avatar ? folder.appending(path: "images") : folder
/// }
/// ```
public struct CacheFolderFilter: Sendable {
  let apply: @Sendable (_ folder: URL, _ request: any APIRequest) -> URL

  /// Makes a filter from a function. The function receives the request and the folder that the earlier filters chose.
  /// It returns the folder to use.
  public init(_ apply: @escaping @Sendable (_ folder: URL, _ request: any APIRequest) -> URL) {
    self.apply = apply
  }
}

/// The stores of a cache, one for each folder. A store is opened at its first use.
final class CacheFolders: Sendable {
  private let folder: URL
  private let filters: [CacheFolderFilter]
  private let open: @Sendable (URL) -> any CacheStore
  private let stores: Locked<[URL: OpenedStore]>
  /// The store of ``folder``.
  private let main: OpenedStore

  /// Makes a value that uses one store for all requests.
  convenience init(store: any CacheStore) {
    self.init(folder: URL(filePath: "/"), filters: []) { _ in store }
  }

  /// Makes a value that opens one store for each folder.
  /// - Parameter known: Folders that the filters may return. The stores of these folders are opened immediately.
  init(
    folder: URL, filters: [CacheFolderFilter], known: [URL] = [], open: @escaping @Sendable (URL) -> any CacheStore
  ) {
    self.folder = folder.standardizedFileURL
    self.filters = filters
    self.open = open
    let place = Self.place(folder)
    main = OpenedStore(open(place))
    let others = Set(known.map(Self.place)).subtracting([place]).map { ($0, OpenedStore(open($0))) }
    stores = Locked(Dictionary(uniqueKeysWithValues: others + [(place, main)]))
  }

  func store(for request: any APIRequest) -> OpenedStore {
    if filters.isEmpty { return main }
    let place = Self.place(filters.reduce(folder) { $1.apply($0, request) })
    return stores.withLock { stores in
      if let known = stores[place] { return known }
      let opened = OpenedStore(open(place))
      stores[place] = opened
      return opened
    }
  }

  /// Returns the URL of a folder with a slash at the end. Foundation appends a slash only if the folder exists, so the
  /// URL of a folder would otherwise differ before and after the folder is created.
  private static func place(_ folder: URL) -> URL {
    URL(filePath: folder.standardizedFileURL.path(percentEncoded: false), directoryHint: .isDirectory)
  }

  var opened: [OpenedStore] { stores.withLock { Array($0.values) } }
}
