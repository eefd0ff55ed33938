// Picture makes a picture of a report, or those in the README:
//
//	go run ./cmd/profdiff diff … --html profdiff-report.html
//	go -C internal/tools run ./picture $PWD/profdiff-report.html#view=flame picture.png
//	go -C internal/tools run ./picture -readme
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"profdiff/internal/tools/browser"
)

// A shot is what a picture shows of a page.
type shot struct {
	browser.Options
	Whole bool   // all of the page, beyond the window, too
	Part  string // a selector: the elements that match, and what is between them
	Do    string // a script that is run before
}

func main() {
	var s shot
	flag.Int64Var(&s.Width, "width", 1280, "`PIXELS` of the window")
	flag.Int64Var(&s.Height, "height", 1250, "`PIXELS` of the window")
	flag.BoolVar(&s.Dark, "dark", false, "in the dark")
	flag.BoolVar(&s.ForcedColors, "forced", false, "in the colors of the user")
	flag.BoolVar(&s.NoScript, "static", false, "without scripts")
	flag.StringVar(&s.Media, "media", "", "`MEDIUM`, as print")
	flag.BoolVar(&s.Whole, "whole", false, "all of the page, beyond the window, too")
	flag.StringVar(&s.Part, "part", "", "only what matches `SELECTOR`, and what is between")
	flag.StringVar(&s.Do, "do", "", "run `SCRIPT` in the page before")
	readme := flag.Bool("readme", false, "make the pictures of README.md again")
	flag.Parse()
	err := error(nil)
	if *readme && flag.NArg() == 0 {
		err = writeReadme(filepath.Join("..", ".."))
	} else {
		err = write(flag.Args(), s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func write(args []string, s shot) error {
	if len(args) != 2 {
		return errors.New("usage: picture [flags] REPORT[#FRAGMENT] PICTURE, or picture -readme")
	}
	name, fragment, _ := strings.Cut(args[0], "#")
	path, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	img, err := take("file://"+path+"#"+fragment, s)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, paletted(img)); err != nil {
		return err
	}
	return os.WriteFile(args[1], out.Bytes(), 0o666)
}

func take(address string, s shot) (image.Image, error) {
	p, err := browser.Open(context.Background(), address, s.Options)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if s.Do != "" {
		if err := p.Do(s.Do); err != nil {
			return nil, err
		}
	}
	data, err := p.Screenshot(s.Whole || s.Part != "")
	if err != nil {
		return nil, err
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil || s.Part == "" {
		return img, err
	}
	part, err := partOf(p, s.Part)
	if err != nil {
		return nil, err
	}
	part = part.Intersect(img.Bounds())
	out := image.NewRGBA(image.Rectangle{Max: part.Size()})
	draw.Draw(out, out.Bounds(), img, part.Min, draw.Src)
	return out, nil
}

// partOf is where the elements are that match, with a margin.
func partOf(p *browser.Page, selector string) (image.Rectangle, error) {
	const margin = 12
	boxes, err := browser.Eval[[][4]float64](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.getBoundingClientRect())
		.map(r => [r.left + scrollX, r.top + scrollY, r.right + scrollX, r.bottom + scrollY])`, selector))
	if err != nil {
		return image.Rectangle{}, err
	}
	var part image.Rectangle
	for _, b := range boxes {
		part = part.Union(image.Rect(int(b[0])-margin, int(b[1])-margin, int(b[2])+margin, int(b[3])+margin))
	}
	if part.Empty() {
		return part, fmt.Errorf("nothing in the page matches %q", selector)
	}
	return part, nil
}

// paletted reduces a picture to 256 colors: those that most pixels have, unless one that is hardly
// different was taken before. A page has few colors, except at the edges of letters, where each
// color has many shades: these must not crowd out what is written in a color with few pixels.
func paletted(img image.Image) *image.Paletted {
	count := make(map[color.RGBA]int)
	b := img.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA) }
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	var colors []color.RGBA
	for c := range count {
		colors = append(colors, c)
	}
	number := func(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }
	slices.SortFunc(colors, func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], number(a)-number(b))
	})
	p := distinct(colors)
	out := image.NewPaletted(b, p)
	nearest := make(map[color.RGBA]uint8)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := at(x, y)
			i, ok := nearest[c]
			if !ok {
				i = uint8(p.Index(c))
				nearest[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	return out
}

// distinct takes at most 256 colors, the first ones, that are as far from each other as so many can be.
func distinct(colors []color.RGBA) color.Palette {
	far := func(a, b color.RGBA) int {
		d := func(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
		return d(a.R, b.R) + d(a.G, b.G) + d(a.B, b.B)
	}
	for least := 1; ; least += 3 {
		var taken []color.RGBA
		for _, c := range colors {
			if len(taken) <= 256 && !slices.ContainsFunc(taken, func(t color.RGBA) bool { return far(c, t) < least }) {
				taken = append(taken, c)
			}
		}
		if len(taken) <= 256 {
			p := make(color.Palette, len(taken))
			for i, c := range taken {
				p[i] = c
			}
			return p
		}
	}
}
