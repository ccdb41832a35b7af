echo "$1 $2" >> drive.log
awk -v part="$1" -v fact="$2" -v seed=1 -v bytes=9000 -v steps=60 -v lag=40 '
function value(n,  x, i) {
  x = (seed * 100000 + n) % 2147483646 + 1
  for (i = 0; i < 5; i++) x = (x * 16807) % 2147483647
  return x
}
function planted(n) {
  if (n % 6 == 2) return sprintf("retry_limit_%03d = %d", n, value(n))
  if (n % 6 == 4) return sprintf("cache_of_%03d = var/cache/%d/index.db", n, value(n))
  return sprintf("timeout_%03d = %dms", n, value(n))
}
function noise(upto,  line) {
  while (size < upto) {
    x = (x * 16807) % 2147483647
    line = sprintf("ok   internal/store/lease_%d.go:%d checksum %d took %d.%03ds, %s", x % 97, x % 1213, x, x % 7, x % 1000, words[x % 8])
    size += length(line) + 1
    print line
  }
}
function use(line,  file, was) {
  if (line != planted(part - lag)) return "is not what part " (part - lag) " said"
  if ((part - lag) % 6 != 0) return "is right"
  file = sprintf("part-%03d.conf", part - lag)
  if ((getline was < file) <= 0 || was != line) return "is not a line of " file
  close(file)
  print line " # checked" > file
  return "is changed in " file
}
BEGIN {
  part += 0
  split("lock held|cursor at end|batch closed|deadline kept|header read|retry not needed|lease renewed|nothing to migrate", w, "|")
  for (i = 1; i <= 8; i++) words[i - 1] = w[i]
  if (fact != "" && fact != "again") print "the fact " use(fact)
  x = value(part + 50000)
  noise(bytes / 2)
  if (part % 2 == 0) {
    print planted(part)
    if (part % 6 == 0 && fact != "again") print planted(part) > sprintf("part-%03d.conf", part)
  }
  noise(bytes - 60)
  printf "part %d of %d is done, code %d\n", part, steps, value(part + 90000)
}'
sleep 0.2
