/** A passage, a question in its own words, and the same question in others. */
type Entry = [passage: string, lexical: string, paraphrase: string];

/**
 * Notes of a made-up household, shop and town. Made for this comparison alone: small, and by one hand, so that it tells
 * ways of searching apart and says little about any collection of texts.
 */
export const retrievalSet: readonly Entry[] = [
  [
    "Orders above 40 euros ship free of charge; below that we add 4.90 for postage.",
    "orders above 40 euros ship free",
    "When is delivery without extra cost?",
  ],
  [
    "Goods may be returned within thirty days if the packaging is intact.",
    "returned within thirty days packaging intact",
    "How long can I send something back that I do not like?",
  ],
  [
    "The bakery opens at five in the morning and sells out of rye bread by noon.",
    "bakery rye bread noon",
    "Early place for fresh loaves",
  ],
  [
    "Passwords must have twelve characters and are never sent by mail.",
    "passwords twelve characters",
    "Rules for choosing a secret login phrase",
  ],
  [
    "After five failed logins the account is locked for half an hour.",
    "account locked failed logins",
    "I typed my credentials wrong too often and cannot get in",
  ],
  [
    "The dishwasher drains poorly when its filter is clogged with food scraps.",
    "dishwasher filter clogged",
    "Water stays in the kitchen appliance that cleans plates",
  ],
  [
    "Our cat needs her insulin injection twice a day, right after she eats.",
    "cat insulin injection",
    "Medicine for the diabetic pet",
  ],
  [
    "The last ferry to the island leaves at 21:40 from pier three.",
    "last ferry island pier",
    "Latest boat in the evening",
  ],
  [
    "Tomatoes are planted outside after the middle of May, when frost is over.",
    "tomatoes planted May frost",
    "When do vegetables go into the garden without freezing?",
  ],
  [
    "The roof leaked near the chimney and was mended with lead flashing.",
    "roof leaked chimney flashing",
    "Rain came through the top of the house",
  ],
  [
    "Employees receive 28 days of paid holiday a year, plus public ones.",
    "employees paid holiday days",
    "How much vacation does the staff get?",
  ],
  [
    "Sick notes are handed in on the third day of absence at the latest.",
    "sick notes third day absence",
    "Do I need a doctor's certificate when I am ill?",
  ],
  [
    "The server room is cooled to 19 degrees; an alarm rings above 27.",
    "server room cooled alarm",
    "What happens if the computers become too hot?",
  ],
  [
    "Backups are written every night and kept for ninety days on tape.",
    "backups every night ninety days",
    "How far back can lost data be restored?",
  ],
  [
    "Granny's plum cake takes two pounds of fruit and bakes for fifty minutes.",
    "plum cake bakes fifty minutes",
    "Recipe for a sweet dessert from the oven",
  ],
  [
    "The library lends films for one week; each day late costs fifty cents.",
    "library lends films week",
    "Penalty for keeping a borrowed movie too long",
  ],
  [
    "Children under six travel free on all buses and trams.",
    "children under six travel free",
    "Does a toddler need a ticket for public transport?",
  ],
  [
    "The swimming pool is closed on Mondays for cleaning.",
    "swimming pool closed Mondays",
    "Which weekday can we not go for a dip?",
  ],
  [
    "Batteries and paint belong to the hazardous waste collected each spring.",
    "batteries paint hazardous waste",
    "How do I throw away poisonous garbage?",
  ],
  [
    "The museum's dinosaur skeleton was found by a farmer in 1921.",
    "museum dinosaur skeleton farmer",
    "Who discovered the bones of the prehistoric reptile?",
  ],
  [
    "Winter tyres are required by law from November to March on icy roads.",
    "winter tyres required November",
    "What does a car need for driving in snow?",
  ],
  [
    "Brake pads are replaced when less than three millimetres are left.",
    "brake pads replaced millimetres",
    "Worn parts that stop the vehicle",
  ],
  [
    "The choir rehearses on Wednesday evenings and welcomes new tenors.",
    "choir rehearses Wednesday tenors",
    "Where can I join others to sing?",
  ],
  [
    "Each flat has one parking space in the garage under the building.",
    "flat parking space garage",
    "Where do residents leave their cars?",
  ],
  [
    "Loud music is forbidden between ten at night and seven in the morning.",
    "loud music forbidden night",
    "Until when may a party be noisy?",
  ],
  [
    "The boiler is serviced every autumn by the gas company.",
    "boiler serviced autumn gas",
    "Who maintains the heating?",
  ],
  [
    "Invoices are paid fourteen days after receipt, with two percent off for cash.",
    "invoices paid fourteen days",
    "Discount for settling a bill quickly",
  ],
  [
    "The founder sold her bicycle to buy the first printing press.",
    "founder sold bicycle printing press",
    "How was the start of the business financed?",
  ],
  [
    "Mosquito bites itch less when a warm spoon is pressed on them.",
    "mosquito bites itch spoon",
    "Home remedy against insect stings",
  ],
  [
    "The hiking trail to the summit takes six hours and has no water on the way.",
    "hiking trail summit hours",
    "How long is the walk up the mountain?",
  ],
  [
    "Guests receive the wireless password on a card at the reception desk.",
    "guests wireless password reception",
    "How do visitors get on the internet?",
  ],
  [
    "Fire extinguishers hang beside every staircase and are tested each year.",
    "fire extinguishers staircase tested",
    "What can I use to put out flames?",
  ],
  [
    "The school bus picks up pupils at the church at ten past seven.",
    "school bus pupils church",
    "How do kids get to class in the morning?",
  ],
  [
    "Contracts with suppliers are signed by two directors.",
    "contracts suppliers two directors",
    "Who has to approve a deal with a vendor?",
  ],
  [
    "The vineyard harvests its grapes by hand in late September.",
    "vineyard harvests grapes September",
    "When is the fruit for wine picked?",
  ],
  [
    "Rooms must be left by eleven; luggage may stay in the cellar until evening.",
    "rooms left eleven luggage cellar",
    "Check-out time and storing suitcases at the hotel",
  ],
  [
    "The sofa's covers are washed at thirty degrees and never put in the dryer.",
    "sofa covers washed thirty degrees",
    "How do I clean the fabric of the couch?",
  ],
  [
    "Our dog is afraid of thunder and hides under the bed.",
    "dog afraid thunder bed",
    "What scares the puppy during a storm?",
  ],
  [
    "A loan above ten thousand needs a second signature from the bank's manager.",
    "loan ten thousand signature manager",
    "Borrowing a large sum of money",
  ],
  [
    "Her grandfather built violins in a workshop behind the mill.",
    "grandfather built violins workshop",
    "Which ancestor made musical instruments?",
  ],
  [
    "The clinic vaccinates against flu from October, without an appointment.",
    "clinic vaccinates flu October",
    "Where can I get a shot before the cold season?",
  ],
  [
    "Milk, eggs and butter are kept on the top shelf of the refrigerator.",
    "milk eggs butter shelf refrigerator",
    "Where is dairy stored?",
  ],
  [
    "The printer on the second floor jams when the paper is damp.",
    "printer second floor jams paper",
    "The machine for hard copies is stuck",
  ],
  [
    "Complaints are answered in writing within two working days.",
    "complaints answered writing working days",
    "How soon does an unhappy customer hear from us?",
  ],
  [
    "The bridge is closed to lorries heavier than twelve tons.",
    "bridge closed lorries twelve tons",
    "Can a big truck cross the river here?",
  ],
  [
    "Volunteers read stories aloud at the hospital every Saturday.",
    "volunteers read stories hospital Saturday",
    "Unpaid helpers who entertain patients",
  ],
  [
    "The telescope shows the rings of Saturn on clear nights.",
    "telescope rings Saturn",
    "Watching planets in the dark sky",
  ],
  [
    "Salaries are transferred on the 25th of each month.",
    "salaries transferred month",
    "When do workers receive their wages?",
  ],
];
