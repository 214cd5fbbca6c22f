@_exported public import ErrandCache
@_exported public import ErrandCompression
@_exported public import ErrandCore
@_exported public import ErrandJSON
@_exported public import ErrandTransfer

#if canImport(CErrandCurl)
  @_exported public import ErrandCurl
#endif

// Not `canImport(ErrandURLSession)`: a build on Linux makes that module, too, and nobody should link it unasked.
#if canImport(Darwin)
  @_exported public import ErrandURLSession
#endif
