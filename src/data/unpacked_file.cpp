#include "data/unpacked_file.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <new>
#include <span>
#include <vector>

#include "accrue/messages.hpp"
#include "core/error.hpp"

namespace accrue::data {

namespace {

constexpr std::size_t kPackedBytes = std::size_t{1} << 17;

// A file that is read through a decoder. A decoder takes bytes from the front of `packed` and fills `place`.
template <typename Decoder>
class UnpackedFile : public InputFile {
public:
    explicit UnpackedFile(const std::string& path) : InputFile(path), packed_(kPackedBytes) {}

    bool is_regular() const override { return false; }

    std::size_t read(char* place, std::size_t most) override {
        while (most > 0) {
            if (from_ == to_ && !at_end_) {
                from_ = 0;
                to_ = InputFile::read(packed_.data(), packed_.size());
                at_end_ = to_ == 0;
            }
            if (from_ == to_ && at_end_ && decoder_.is_between_parts()) {
                core::require(has_begun_, "{} is empty", display_name(path()));
                return 0;
            }
            has_begun_ = true;
            std::size_t taken = 0;
            std::size_t made = 0;
            const bool good = decoder_.decode({packed_.data() + from_, to_ - from_}, taken, {place, most}, made);
            core::require(good, "{} cannot be unpacked: it is damaged, or not a {} file", display_name(path()),
                          Decoder::kName);
            from_ += taken;
            if (made > 0) return made;
            core::require(!(at_end_ && taken == 0), "{} ends in the middle of its compressed data: it is incomplete",
                          display_name(path()));
        }
        return 0;
    }

private:
    Decoder decoder_;
    std::vector<char> packed_;
    std::size_t from_ = 0;
    std::size_t to_ = 0;
    bool at_end_ = false;  // of the packed bytes
    bool has_begun_ = false;
};

class GzipDecoder {
public:
    static constexpr const char* kName = "gzip";

    GzipDecoder() {
        constexpr int kGzip = 15 + 16;  // the largest window, gzip's header
        if (::inflateInit2(&stream_, kGzip) != Z_OK) throw std::bad_alloc();
    }
    ~GzipDecoder() { ::inflateEnd(&stream_); }
    GzipDecoder(const GzipDecoder&) = delete;
    GzipDecoder& operator=(const GzipDecoder&) = delete;

    bool is_between_parts() const { return between_parts_; }
    bool decode(std::span<char> packed, std::size_t& taken, std::span<char> place, std::size_t& made) {
        // Files may be put together from several; each begins anew.
        if (between_parts_ && has_ended_) ::inflateReset(&stream_);
        between_parts_ = false;
        const auto limited = [](std::size_t size) {
            return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
        };
        stream_.next_in = reinterpret_cast<Bytef*>(packed.data());
        stream_.avail_in = limited(packed.size());
        stream_.next_out = reinterpret_cast<Bytef*>(place.data());
        stream_.avail_out = limited(place.size());
        const int status = ::inflate(&stream_, Z_NO_FLUSH);
        taken = limited(packed.size()) - stream_.avail_in;
        made = limited(place.size()) - stream_.avail_out;
        has_ended_ = between_parts_ = status == Z_STREAM_END;
        if (status == Z_MEM_ERROR) throw std::bad_alloc();
        return status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
    }

private:
    z_stream stream_{};
    bool between_parts_ = true;
    bool has_ended_ = false;
};

class ZstdDecoder {
public:
    static constexpr const char* kName = "zstd";

    ZstdDecoder() : stream_(::ZSTD_createDStream()) {
        if (stream_ == nullptr) throw std::bad_alloc();
    }
    ~ZstdDecoder() { ::ZSTD_freeDStream(stream_); }
    ZstdDecoder(const ZstdDecoder&) = delete;
    ZstdDecoder& operator=(const ZstdDecoder&) = delete;

    bool is_between_parts() const { return between_parts_; }
    bool decode(std::span<char> packed, std::size_t& taken, std::span<char> place, std::size_t& made) {
        ZSTD_inBuffer in{packed.data(), packed.size(), 0};
        ZSTD_outBuffer out{place.data(), place.size(), 0};
        // It refuses windows of more than 128 MiB by itself.
        const std::size_t status = ::ZSTD_decompressStream(stream_, &out, &in);
        taken = in.pos;
        made = out.pos;
        if (::ZSTD_isError(status) != 0) return false;
        between_parts_ = status == 0;
        return true;
    }

private:
    ZSTD_DStream* stream_;
    bool between_parts_ = true;
};

}  // namespace

bool is_compressed(const std::string& path) {
    return path.ends_with(".gz") || path.ends_with(".zst");
}

std::unique_ptr<InputFile> open_unpacked(const std::string& path) {
    if (path.ends_with(".gz")) return std::make_unique<UnpackedFile<GzipDecoder>>(path);
    if (path.ends_with(".zst")) return std::make_unique<UnpackedFile<ZstdDecoder>>(path);
    return std::make_unique<InputFile>(path);
}

}  // namespace accrue::data
