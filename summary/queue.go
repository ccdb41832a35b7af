package summary

// queue is a heap of steps and lines, the best first.
type queue struct{ list []ranking }

// drop takes the first off.
func (q *queue) drop() {
	last := len(q.list) - 1
	q.list[0] = q.list[last]
	q.list = q.list[:last]
	q.down(0)
}

func (q *queue) push(x ranking) {
	q.list = append(q.list, x)
	for i := len(q.list) - 1; i > 0; {
		up := (i - 1) / 2
		if !x.before(&q.list[up]) {
			break
		}
		q.list[i], q.list[up] = q.list[up], x
		i = up
	}
}

// init makes a heap of the list.
func (q *queue) init() {
	for i := len(q.list)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

func (q *queue) down(i int) {
	list := q.list
	for {
		k := 2*i + 1
		if k >= len(list) {
			return
		}
		if k+1 < len(list) && list[k+1].before(&list[k]) {
			k++
		}
		if !list[k].before(&list[i]) {
			return
		}
		list[i], list[k] = list[k], list[i]
		i = k
	}
}
