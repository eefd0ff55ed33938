// Package retrace gives the names back that ProGuard or R8 shortened.
//
//  1. [Parse] and [Mapping.Add] read mapping files: which class, method and lines became
//     which, and R8's notes on them in comments
//     (https://r8.googlesource.com/r8/+/main/doc/retrace.md, map version 2.2).
//  2. [Mapping.Frames] looks a frame up by class, method and line. Calls that R8 inlined
//     are frames of their own.
//  3. Where the method is code that R8 moved out of others, [Mapping.CallsiteLine] says
//     which line of the caller to look up.
//  4. Without a line, [Mapping.Method] names a method as simpleperf does
//     (system/extras/simpleperf/ProguardMappingRetrace in AOSP).
package retrace
