// Package template executes templates in the language of text/template, whose parser it uses.
//
//  1. [Parse] has the definitions of a text as trees.
//  2. [Template.Execute] walks the tree of a definition, and escapes what it prints of data.
//
// text/template and html/template call methods by name, and a program that does so keeps every exported method
// of every type it uses, a tenth of this one (2.6 of 25.7 MB). What the templates of this program need instead
// is here: fields and variables but no methods, if, range, with, template, and the functions eq, len, not and
// or. Names that a template has wrong panic: it is part of the program, and a test executes all of it.
package template

import (
	"fmt"
	"reflect"
	"strings"
	"text/template/parse"
)

// A Template has definitions.
type Template struct {
	trees  map[string]*parse.Tree
	escape func(string) string
}

// functions are the functions that templates may call.
var functions = map[string]func(args []reflect.Value) reflect.Value{
	"len": func(args []reflect.Value) reflect.Value { return reflect.ValueOf(args[0].Len()) },
	"not": func(args []reflect.Value) reflect.Value { return reflect.ValueOf(!isTrue(args[0])) },
	"eq":  func(args []reflect.Value) reflect.Value { return reflect.ValueOf(args[0].String() == args[1].String()) },
	"or": func(args []reflect.Value) reflect.Value {
		for _, a := range args[:len(args)-1] {
			if isTrue(a) {
				return a
			}
		}
		return args[len(args)-1]
	},
}

// Parse parses the definitions of a text. What is printed of data is escaped, nil for not at all.
func Parse(text string, escape func(string) string) (*Template, error) {
	names := make(map[string]any)
	for name, f := range functions {
		names[name] = f
	}
	trees, err := parse.Parse("template", text, "{{", "}}", names)
	return &Template{trees, escape}, err
}

// Execute returns what a definition of the template makes of data.
func (t *Template) Execute(name string, data any) string {
	e := execution{template: t}
	e.define(name, reflect.ValueOf(data))
	return e.out.String()
}

// An execution writes a template.
type execution struct {
	template *Template
	out      strings.Builder
	vars     []variable // the latest last
}

// A variable is $ or what the template assigns.
type variable struct {
	name  string
	value reflect.Value
}

// define executes a definition: $ is dot there.
func (e *execution) define(name string, dot reflect.Value) {
	outer := e.vars
	e.vars = []variable{{"$", dot}}
	e.list(e.template.trees[name].Root, dot)
	e.vars = outer
}

// list executes nodes. Variables that they assign end with them.
func (e *execution) list(list *parse.ListNode, dot reflect.Value) {
	if list == nil {
		return
	}
	known := len(e.vars)
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			e.out.Write(n.Text)
		case *parse.ActionNode:
			if v := e.pipe(n.Pipe, dot); len(n.Pipe.Decl) > 0 {
				e.vars = append(e.vars, variable{n.Pipe.Decl[0].Ident[0], v})
			} else {
				text := fmt.Sprint(v.Interface())
				if e.template.escape != nil {
					text = e.template.escape(text)
				}
				e.out.WriteString(text)
			}
		case *parse.IfNode:
			if isTrue(e.pipe(n.Pipe, dot)) {
				e.list(n.List, dot)
			} else {
				e.list(n.ElseList, dot)
			}
		case *parse.WithNode:
			if v := e.pipe(n.Pipe, dot); isTrue(v) {
				e.list(n.List, v)
			} else {
				e.list(n.ElseList, dot)
			}
		case *parse.RangeNode:
			e.each(n, e.pipe(n.Pipe, dot), dot)
		case *parse.TemplateNode:
			e.define(n.Name, e.pipe(n.Pipe, dot))
		default:
			panic(fmt.Sprintf("template: %s is not supported", n))
		}
	}
	e.vars = e.vars[:known]
}

// each executes the body of a range for the elements of a slice.
func (e *execution) each(n *parse.RangeNode, slice, dot reflect.Value) {
	if slice.Len() == 0 {
		e.list(n.ElseList, dot)
	}
	known := len(e.vars)
	for i := range slice.Len() {
		switch decl := n.Pipe.Decl; len(decl) {
		case 2:
			e.vars = append(e.vars, variable{decl[0].Ident[0], reflect.ValueOf(i)}, variable{decl[1].Ident[0], slice.Index(i)})
		case 1:
			e.vars = append(e.vars, variable{decl[0].Ident[0], slice.Index(i)})
		}
		e.list(n.List, slice.Index(i))
		e.vars = e.vars[:known]
	}
}

// pipe is the value of a pipeline of one command.
func (e *execution) pipe(p *parse.PipeNode, dot reflect.Value) reflect.Value {
	if len(p.Cmds) != 1 {
		panic(fmt.Sprintf("template: %s has several commands", p))
	}
	args := p.Cmds[0].Args
	if f, ok := args[0].(*parse.IdentifierNode); ok {
		values := make([]reflect.Value, len(args)-1)
		for i, a := range args[1:] {
			values[i] = e.value(a, dot)
		}
		return functions[f.Ident](values)
	}
	return e.value(args[0], dot)
}

// value is the value of an argument.
func (e *execution) value(n parse.Node, dot reflect.Value) reflect.Value {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return fieldOf(dot, n.Ident)
	case *parse.VariableNode:
		for i := len(e.vars) - 1; i >= 0; i-- {
			if e.vars[i].name == n.Ident[0] {
				return fieldOf(e.vars[i].value, n.Ident[1:])
			}
		}
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.PipeNode:
		return e.pipe(n, dot)
	}
	panic(fmt.Sprintf("template: %s is not supported", n))
}

// fieldOf is the field of a field and so on.
func fieldOf(v reflect.Value, path []string) reflect.Value {
	for _, name := range path {
		f := reflect.Indirect(v).FieldByName(name)
		if !f.IsValid() {
			panic(fmt.Sprintf("template: %s has no field %s", v.Type(), name))
		}
		v = f
	}
	return v
}

// isTrue reports whether a condition holds: not empty, not nil and not zero.
func isTrue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.String:
		return v.Len() > 0
	case reflect.Struct:
		return true
	}
	return !v.IsZero()
}
