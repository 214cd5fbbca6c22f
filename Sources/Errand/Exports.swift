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

// A build on Linux also produces the module `ErrandURLSession`, but an app on Linux must choose to link the module. So
// the condition is the platform and not `canImport(ErrandURLSession)`.
#if canImport(Darwin)
  @_exported public import ErrandURLSession
#endif
