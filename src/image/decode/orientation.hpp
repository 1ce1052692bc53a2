#pragma once

#include "image/decode/formats.hpp"

namespace glassformer {

/// Returns the orientation, 1 to 8, that EXIF data or, if that has none, XMP data names; 1 if
/// neither does. Broken data counts as none.
int orientation_of(FileBytes exif, FileBytes xmp);

/// Turns or mirrors a picture so that an orientation becomes 1.
Picture upright(Picture picture, int orientation);

}  // namespace glassformer
