# cut.awk: cuts a file of source/ into the two files of an exercise: `awk -v of=start -f cut.awk FILE` prints the
# start file, `of=solutions` the solution. The file begins with the text for the student and, as a second comment,
# the solution's reasoning. Marks at the beginning of a line say where the code of the two differs:
#
#     //|     a line of the start file only: the mark replaces its first three blanks. What follows is the
#             solution's only, up to the } that ends the function, or to a line //}
#     //{     what follows is the solution's only, up to a line //}
BEGIN { start = of == "start" }
comments < 2 { if (start == !comments) print; comments += $0 == " */"; next }
/^\/\/[|]/ { cut = 1; if (start) print "   " substr($0, 4) }
/^\/\/[{]/ { cut = 2 }
/^\/\/[}]/ || (cut == 1 && /^}/) { cut = 0 }
!/^\/\// && !(start && cut)
