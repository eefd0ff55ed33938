module message-heap

go 1.26.0
