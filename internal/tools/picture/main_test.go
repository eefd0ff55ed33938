package main

import (
	"image"
	"image/color"
	"os"
	"strings"
	"testing"
)

func TestPaletted(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			c := color.RGBA{20, 40, 60, 255}
			if x >= 32 { // 2048 colors, one pixel each
				c = color.RGBA{uint8(4 * x), uint8(4 * y), 200, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	out := paletted(img)
	if n := len(out.Palette); n > 256 || n < 64 {
		t.Errorf("%d colors", n)
	}
	if got := out.At(3, 3); got != img.At(3, 3) {
		t.Errorf("the commonest color became %v", got)
	}
	for _, p := range [][2]int{{40, 1}, {63, 63}} {
		r, g, b, _ := out.At(p[0], p[1]).RGBA()
		want := img.RGBAAt(p[0], p[1])
		off := func(a uint32, b uint8) int { d := int(a>>8) - int(b); return max(d, -d) }
		if d := off(r, want.R) + off(g, want.G) + off(b, want.B); d > 300 {
			t.Errorf("pixel %v is %d away from its color", p, d)
		}
	}
	img.SetRGBA(63, 63, color.RGBA{180, 60, 0, 255})
	if got, want := paletted(img).At(63, 63), img.At(63, 63); got != want {
		t.Errorf("a color of one pixel, unlike all others, became %v", got)
	}
	few := image.NewRGBA(image.Rect(0, 0, 2, 1))
	few.SetRGBA(0, 0, color.RGBA{1, 2, 3, 255})
	if out := paletted(few); out.At(0, 0) != few.At(0, 0) || out.At(1, 0) != few.At(1, 0) {
		t.Error("few colors do not stay")
	}
}

// TestReadmePictures checks that the README has each picture below the command that makes it.
func TestReadmePictures(t *testing.T) {
	data, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rest := string(data)
	for _, r := range readmePictures {
		_, below, ok := strings.Cut(rest, "\n"+r.command+"\n```\n\n![")
		if !ok {
			t.Fatalf("README.md lacks, behind the pictures before: %s", r.command)
		}
		if link, text, _ := strings.Cut(below, ")\n"); !strings.HasSuffix(link, "](testdata/"+r.file) {
			t.Errorf("below %q stands %q and not %s", r.command, link, r.file)
		} else {
			rest = text
		}
		f, err := os.Stat("../../../testdata/" + r.file)
		if err != nil {
			t.Error(err)
		} else if f.Size() > 120_000 {
			t.Errorf("%s has %d bytes", r.file, f.Size())
		}
	}
	if n := strings.Count(string(data), "](testdata/"); n != len(readmePictures) {
		t.Errorf("README.md has %d pictures, and %d are made", n, len(readmePictures))
	}
}

func TestUsage(t *testing.T) {
	if err := write([]string{"report.html"}, shot{}); err == nil {
		t.Error("one argument is taken")
	}
}
