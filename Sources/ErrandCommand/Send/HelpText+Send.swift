extension HelpText {
  static let send = #"""
    usage: errand send [METHOD] URL [name=value …] [option …]

    Sends one request and shows the body of the answer: indented and coloured on a terminal, byte for
    byte in a pipe. What went wrong is said in a sentence on standard error, and by the exit status.

      METHOD              GET where none is given; POST where --json or --form make a body
      URL                 without a scheme it gets https://, one of this machine http://;
                          :8080/x is short for http://localhost:8080/x
      name=value          an argument that is a text; every character survives
      name:=json          an argument that is JSON: count:=3  tags:='["a","b"]'  on:=true

    where the arguments go (where nothing is said: the query for GET, HEAD and DELETE, else a form)
      --json              into a JSON body
      --form              into a form body
      --query             into the query

    what is sent with it
      -H 'Name: value'    a field, sent as often as it is said; 'Name:' leaves a field out
      --user NAME:PASS    basic credentials
      --bearer TOKEN      a bearer token
                          @FILE in place of either reads the first line of a file; others on this
                          machine can see the arguments of a command

    what is expected
      --shape SHAPE       the shape that the JSON must have, see below
      --timeout SECONDS   for the whole call, redirects included, such as 0.3; without it 120 s, or no
                          limit for a body that goes to a file or a pipe. 10 s to connect and 60 s of
                          silence always end it
      --no-follow         show a redirect instead of following it

    what is kept (see also “errand cache --help”)
      --cache DIR         keep answers in a folder, which is made where it is missing, and serve them
                          from there by HTTP's own rules: up to 100 MiB, 5 MiB an answer. Bodies are
                          then held in memory, 32 MiB at the most, and the time-out is 120 s
      --lifetime TIME     keep them for a time instead, whatever server and method say: 30s 10m 2h 7d
      --tag WORD          what to call the answer, to clear it by
      --mode WORD         how this call reads:
            declared        a fresh answer is served, else the server is asked; so without a word
            revalidate      the server is asked whether what is stored still holds
            ignore          nothing is read, the answer is stored
            without         nothing is read and nothing is stored
            cached          a stored answer of any age is served, else the server is asked
            offline         the server is asked, and what is stored stands in where it cannot be reached
            only            a stored answer is served while it is fresh, and the server is never asked
            stored          the same at any age

    and more
      -o FILE             write the body to a file, which appears only when it is whole
      -v                  on standard error: what is sent and received, where the answer came from and
                          why, and how long it took; secrets masked
      --no-proxy          no proxy, whatever http_proxy, https_proxy, all_proxy and no_proxy say
      --                  behind it nothing is an option

    a shape looks like the answer, with types in the place of values
      string  number  integer  bool  null  any  array  object
      string|null         either; =a|=b are the texts a and b, 1|2 the numbers
      integer?            the key may be missing
      ["string"]          a list of texts, [] of anything
      {"home|null?": {…}} the same marks on a key, for values that are objects or lists

    examples
      errand send https://api.example.com/users/7
      errand send --json https://api.example.com/users name=Ada age:=36 tags:='["maths"]'
      errand send PATCH :8080/users/7 --json nick=ada --bearer "$TOKEN" -v
      errand send https://api.example.com/users --shape '{"items": [{"nick": "string"}]}'
      errand send https://cdn.example.com/film.mp4 -o film.mp4
      errand send https://api.example.com/users q=ada --timeout 2 | jq .items

    exit status
      0  the answer came and is as expected             64  wrong words, or a request not fit to send
      1  anything that is not in this list              65  the JSON has another shape, or is none
      6  the host's name could not be resolved          66  --mode only, and nothing is stored
      7  nobody listens there                           72  the folder of --cache cannot hold a store
     22  the status is no success; the body is shown    77  the folder of --cache is closed to you
     28  it took too long                              130  interrupted
     60  TLS failed, or nobody vouches for the server

    Words on a command line can be seen by other users of the machine; so can secrets among them.

    """#
}
