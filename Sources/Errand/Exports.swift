@_exported public import ErrandCache
@_exported public import ErrandCompression
@_exported public import ErrandCore
@_exported public import ErrandJSON
@_exported public import ErrandTransfer

#if canImport(CErrandCurl)
  @_exported public import ErrandCurl
#endif
