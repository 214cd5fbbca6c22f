// One file, fetched or sent with libcurl.
#pragma once

// Whether MODE is one of this file's: download, download-16k, download-synced, upload.
int is_transfer(const char *mode);

// Fetches BYTES bytes from URL into the file at PATH, or sends them from there, and prints what that took.
void run_transfer(const char *mode, const char *url, long bytes, const char *path);
