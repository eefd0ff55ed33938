package walk

const path = `[...document.querySelectorAll(".path a")].map(a => a.title)`
