/** An example list: labeled texts, one per line. */
export const labeledTexts =
  'positive\tWarm, funny and never too long.\npositive\tNot a single dull minute.\npositive\tI expected to hate it. I was wrong.\npositive\tThe best thing about my week.\nnegative\tTwo hours that I will not get back.\nnegative\tIt has everything but a story.\nnegative\tOh great, another sequel.\nnegative\tThe popcorn was good.';
