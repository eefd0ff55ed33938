package align

import ("testing"; "fmt")

func TestTmp(t *testing.T) {
	b := []Function{{Name:"main",DSO:"a",Weight:1,Callees:[]Edge{{1,.6},{2,.4}}},{Name:"hash_v1",DSO:"a",Weight:.6,Callers:[]Edge{{0,.6}}},{Name:"sort",DSO:"a",Weight:.4,Callers:[]Edge{{0,.4}}}}
	h := []Function{{Name:"main",DSO:"b",Weight:1,Callees:[]Edge{{1,.6},{2,.4}}},{Name:"hash_v2",DSO:"b",Weight:.6,Callers:[]Edge{{0,.6}}},{Name:"sort",DSO:"b",Weight:.4,Callers:[]Edge{{0,.4}}}}
	ms, err := Functions(b,h,Options{})
	for _, x := range ms { fmt.Printf("%+v\n", x) }
	fmt.Println(err)
	fmt.Println(Functions(b,h,Options{Renames:[]Rename{{"hash_v","x"}}}))
}
