// The download or upload of one file with libcurl.
#pragma once

// Whether MODE is a transfer: download, download-16k, download-synced or upload.
int is_transfer(const char *mode);

// Downloads BYTES bytes from URL to the file at PATH, or uploads them from it, and prints the resources that it used.
void run_transfer(const char *mode, const char *url, long bytes, const char *path);
