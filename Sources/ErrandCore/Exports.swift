@_exported public import ErrandHTTP
