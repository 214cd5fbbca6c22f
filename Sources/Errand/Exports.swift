@_exported public import ErrandCache
@_exported public import ErrandCompression
@_exported public import ErrandCore
@_exported public import ErrandJSON
@_exported public import ErrandTransfer

#if canImport(CErrandCurl)
  @_exported public import ErrandCurl
#endif
#if canImport(CErrandEngine)
  @_exported public import ErrandEngine
#endif

// Not `canImport(ErrandURLSession)`: a build on Linux also produces that module, but an app must choose to link it.
#if canImport(Darwin)
  @_exported public import ErrandURLSession
#endif
