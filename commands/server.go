package commands

var serverCommands = []Spec{}
